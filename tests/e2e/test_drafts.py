"""Claims and sales that are being typed outlive a reload at any moment, Back, and another sign-in."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Event
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, Route, WebSocketRoute, expect

from core import clock
from core.covers import request
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers.insurer_b import THIRD_PARTY
from core.desk import mail_texts
from core.desk.mail_texts import TextInUse
from core.services.catalogue import keys
from core.services.claims.intake import lodging
from core.services.claims.intake.new_claims import CreditLifeDeskRequest
from core.services.compliance import requests
from core.services.people.staff import Person
from core.services.selling import buying
from core.services.selling.buying import Seller
from core.store.access import Scope
from core.store.schema.tables import Distributor, MailText, SaleDraft
from tests import papers
from tests.covers import shipped
from tests.e2e.conftest import Desk, Visit, settled

BVN = "22212345678"


@pytest.fixture
def number(desk: Desk) -> str:
    """The policy of a loan that began and was insured sixty days ago."""
    started = clock.today() - timedelta(days=60)
    purchase = shipped.request(
        CREDIT_LIFE, loan_start_date=started.isoformat(), loan_tenure=12, loan_amount="100000", email="jo@example.com"
    )
    seller = Seller(distributor_id=desk.seller, is_live=False, actor="tests")
    sold = clock.freeze(clock.now() - timedelta(days=60))
    with desk.store.writing(Scope.system()) as session:
        # Other tests of this desk leave drafts of the same person.
        session.execute(sa.delete(SaleDraft))
    with sold, desk.store.writing(Scope.of(desk.seller, is_live=False)) as session:
        return str(buying.sell(session, CREDIT_LIFE, purchase, seller).policy["meta"]["policy_number"])


@pytest.fixture
def lodged(desk: Desk, number: str) -> str:
    """The id of a claim on that policy, which the desk took in without papers."""
    fields = {
        "policy_number": number,
        "incident_type": "Loss of job",
        "accidental": "false",
        "loan_offer_date": (clock.today() - timedelta(days=60)).isoformat(),
        "loan_repayment_date": (clock.today() + timedelta(days=300)).isoformat(),
        "loan_amount": "100000",
        "pending_repayment_amount": "75000",
    }
    validated: CreditLifeDeskRequest = request.validate(CreditLifeDeskRequest, fields)
    owner = Seller(distributor_id=desk.seller, is_live=False, actor="tests")
    with desk.store.writing(Scope.of(desk.seller, is_live=False)) as session:
        return str(lodging.lodge_claim(session, validated, [], owner=owner, actor="tests")["id"])


def reload(page: Page) -> None:
    page.reload()
    # Put back, and stored by the run that follows: no run is under way when something else is done.
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('75,000')")


def noted(page: Page) -> str:
    """Return what the tab keeps of what was typed and is not stored yet."""
    return str(page.evaluate("JSON.stringify(sessionStorage)"))


def go_back_and_return(page: Page) -> None:
    page.get_by_role("link", name=re.compile("^My tasks")).click()
    expect(page.get_by_role("heading", name="My tasks")).to_be_visible()
    page.go_back()


@pytest.mark.exhaustive
def test_text_that_was_just_typed_is_there_after_a_reload_and_after_back(visit: Visit, number: str) -> None:
    page = visit("claims", f"/lodge?mode=test&policy={number}")
    owed = page.get_by_label("Pending repayment amount")
    page.get_by_label("Incident type").click()
    page.get_by_role("option", name="Loss of job").click()
    expect(page.get_by_text("Kept as your draft")).to_be_visible()
    expect(page).to_have_url(re.compile("draft="))
    settled(page)
    for reopen, typed in ((reload, "75,000"), (go_back_and_return, "74,000")):
        owed.fill("")
        # The field is not even left: no run has seen this.
        owed.press_sequentially(typed)
        reopen(page)
        expect(owed).to_have_value(typed)
        settled(page)
    page.get_by_role("button", name="Discard the draft").click()
    expect(owed).to_have_value("")
    settled(page)
    page.reload()
    settled(page)
    expect(owed).to_have_value("")


class HeldMessages:
    """The messages of the server to a page, kept back from the first that `begins` names until they are released."""

    def __init__(self, page: Page, begins: Callable[[bytes], bool]) -> None:
        self.begins, self.is_open = begins, True
        self.kept = list[tuple[WebSocketRoute, str | bytes]]()
        page.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, socket: WebSocketRoute) -> None:
        def deliver(message: str | bytes) -> None:
            if self.kept or (self.is_open and self.begins(message.encode() if isinstance(message, str) else message)):
                self.kept.append((socket, message))
            else:
                socket.send(message)

        socket.connect_to_server().on_message(deliver)

    def release(self) -> None:
        """Deliver what was kept back, and all that follows."""
        assert self.kept
        self.is_open, kept = False, self.kept[:]
        self.kept.clear()
        for socket, message in kept:
            socket.send(message)


# Leaves a field by pressing a button, and waits for a timer that ends after those which that has set.
LEAVE_AND_PRESS = """title => new Promise(done => {
  document.activeElement.blur()
  ;[...document.querySelectorAll("button")].find(button => button.textContent.includes(title)).click()
  setTimeout(done, 700)
})"""


@pytest.mark.exhaustive
def test_a_field_that_is_left_by_the_press_that_discards_it_is_not_brought_back(
    visit: Visit, page: Page, number: str
) -> None:
    is_pressed = Event()
    held = HeldMessages(page, lambda _: is_pressed.is_set())
    visit("claims", f"/lodge?mode=test&policy={number}")
    owed = page.get_by_label("Pending repayment amount")
    page.get_by_label("Incident type").click()
    page.get_by_role("option", name="Loss of job").click()
    expect(page.get_by_text("Kept as your draft")).to_be_visible()
    settled(page)
    owed.fill("75,000")
    is_pressed.set()
    page.evaluate(LEAVE_AND_PRESS, "Discard the draft")
    held.release()
    expect(owed).to_have_value("")
    settled(page)
    expect(page.get_by_text("Kept as your draft")).to_have_count(0)
    expect(owed).to_have_value("")


@pytest.mark.exhaustive
def test_a_claim_outlives_another_sign_in_and_is_lodged_with_one_press(visit: Visit, number: str, desk: Desk) -> None:
    page = visit("claims", f"/lodge?mode=test&policy={number}")
    page.get_by_label("Incident type").click()
    page.get_by_role("option", name="Loss of job").click()
    page.get_by_text("No", exact=True).first.click()
    page.get_by_label("Pending repayment amount").fill("75,000")
    page.get_by_label("Pending repayment amount").press("Tab")
    # It is noted in the tab until it is stored.
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('75,000')")
    settled(page)
    # Not left, so that no run stores it; then somebody else's session in the same tab.
    page.get_by_label("Pending repayment amount").fill("74,321")
    assert "74,321" in noted(page)
    visit("operations", "/search")
    assert "74,321" not in noted(page)
    page = visit("claims", "/lodge?mode=test")
    expect(page.get_by_text(re.compile("^1 unfinished claim"))).to_be_visible()
    page.get_by_role("link", name="Continue").click()
    expect(page.get_by_label("Pending repayment amount")).to_have_value("75,000")
    settled(page)
    # Typed on, and pressed at once: the run of the press may be stopped by the one that typing asks for.
    page.get_by_label("Pending repayment amount").fill("70,000")
    page.get_by_role("button", name="Lodge the claim").click()
    receipt = page.get_by_text(re.compile("^The claim of .* is lodged"))
    expect(receipt).to_be_visible()
    page.reload()
    expect(receipt).to_be_visible()
    expect(page.get_by_text(re.compile("Tell the caller to send by"))).to_be_visible()
    with desk.store.reading(Scope.system()) as session:
        assert not session.execute(sa.select(SaleDraft).where(SaleDraft.cover.startswith("claim "))).all()


@pytest.fixture
def second_seller(desk: Desk) -> Iterator[str]:
    """Another distributor that can be sold for, while the test lasts."""
    name = "Harbour Motors"
    with desk.store.writing(Scope.system()) as session:
        made = keys.get_or_create_distributor(session, name)
    yield name
    with desk.store.writing(Scope.system()) as session:
        session.execute(sa.update(Distributor).where(Distributor.id == made).values(active=False))


@pytest.mark.exhaustive
def test_the_shop_window_asks_on_whose_behalf_and_the_sale_outlives_a_reload_but_not_the_session(
    visit: Visit, second_seller: str
) -> None:
    page = visit("operations", "/buy?mode=test")
    page.get_by_placeholder("Cover or insurer").fill(THIRD_PARTY.route)
    page.get_by_placeholder("Cover or insurer").press("Enter")
    # The same cover of another insurer goes away once the search is applied.
    expect(page.get_by_role("button", name=THIRD_PARTY.title)).to_have_count(1)
    settled(page)
    page.get_by_role("button", name=THIRD_PARTY.title).click()
    expect(page.get_by_text("Choose the distributor on whose behalf you sell it.")).to_be_visible()
    page.get_by_label("On behalf of").click()
    page.get_by_role("option", name=second_seller).click()
    # The shop window sold one product of this cover, which stands in the address.
    expect(page.get_by_label("Product")).to_have_value(THIRD_PARTY.title)
    # What is typed is noted at once where the form is watched already, which the end of the run says.
    settled(page)
    number, surname = page.get_by_label("BVN"), page.get_by_label("Last name").first
    number.press_sequentially(BVN)
    surname.press_sequentially("Adebayo-Smart")
    assert "Adebayo-Smart" in noted(page)
    assert BVN not in noted(page)
    # The number is in the server's draft alone, soon after it was left.
    expect(page.get_by_text("Kept as your draft")).to_be_visible()
    settled(page)
    page.reload()
    expect(surname).to_have_value("Adebayo-Smart")
    expect(number).to_have_value(BVN)
    expect(page.get_by_text("Kept as your draft")).to_be_visible()
    expect(page).to_have_url(re.compile("on_behalf_of=Harbour"))
    settled(page)
    surname.fill("Adebayo-Cole")
    assert "Adebayo-Cole" in noted(page)
    page.context.clear_cookies()
    page.reload()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('Adebayo')")


@pytest.mark.exhaustive
def test_a_field_that_is_left_before_the_form_is_watched_is_stored_once_it_is(visit: Visit, page: Page) -> None:
    # The form is drawn, and the component that watches it is still on its way.
    held = HeldMessages(page, lambda message: b"coverdesk_form_keeper" in message)
    visit("operations", "/search?mode=test")
    sold = {"on_behalf_of": "Swift Lenders", "cover": f"{THIRD_PARTY.title}, Baobab Ridge Assurance"}
    page.goto(f"/buy?mode=test&{urlencode(sold)}")
    page.get_by_label("BVN").fill(BVN)
    page.get_by_label("BVN").press("Tab")
    held.release()
    expect(page.get_by_text("Kept as your draft")).to_be_visible()


@pytest.mark.exhaustive
def test_a_paper_that_is_chosen_while_the_first_draft_is_stored_is_lodged_with_the_claim(
    visit: Visit, number: str
) -> None:
    page = visit("claims", f"/lodge?mode=test&policy={number}")
    page.get_by_text("Papers", exact=True).click()
    settled(page)
    held = list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/_stcore/upload_file/**", hold)
    letter = {"name": "letter.pdf", "mimeType": "application/pdf", "buffer": papers.pdf(text="A loan is offered")}
    chooser = page.get_by_test_id("stFileUploader").filter(has_text="Loan offer letter").locator("input")
    # The run of this choice stores the first draft meanwhile.
    page.get_by_label("Incident type").click()
    page.get_by_role("option", name="Loss of job").click()
    with page.expect_request("**/_stcore/upload_file/**"):
        chooser.set_input_files(letter)  # type: ignore[arg-type]
    expect(page.get_by_text("Kept as your draft")).to_be_visible()
    page.get_by_text("No", exact=True).first.click()
    page.get_by_label("Pending repayment amount").fill("75,000")
    page.get_by_label("Pending repayment amount").press("Tab")
    expect(page.get_by_text("Everything that is needed is filled in")).to_be_visible()
    settled(page)
    # The paper is still on its way: the press waits for it, as the claim would be lodged without it.
    lodge = page.get_by_role("button", name="Lodge the claim")
    lodge.click()
    expect(lodge).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    expect(page.get_by_text(re.compile("^The claim of .* is lodged"))).to_be_visible()
    settled(page)  # until then the form stands below the first words of the receipt
    expect(page.get_by_text("Employment termination letter")).to_be_visible()
    expect(page.get_by_text("Loan offer letter")).to_have_count(0)


@pytest.mark.exhaustive
def test_a_note_on_a_claim_outlives_a_reload_and_back_and_is_forgotten_once_it_is_saved(
    visit: Visit, lodged: str
) -> None:
    page = visit("claims", f"/claim?id={lodged}&mode=test")
    note, sentence = page.get_by_label("What to say"), "The caller says that the bank has written to her."
    page.get_by_text("Talk (0)").click()
    note.fill(sentence)
    page.reload()
    page.get_by_text("Talk (0)").click()
    expect(note).to_have_value(sentence)
    settled(page)
    go_back_and_return(page)
    page.get_by_text("Talk (0)").click()
    expect(note).to_have_value(sentence)
    page.get_by_role("button", name="Save the note").click()
    expect(page.get_by_text("The note is saved")).to_be_visible()
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('The caller says')")
    page.reload()
    page.get_by_text("Talk (1)").click()
    expect(page.get_by_text(sentence)).to_be_visible()
    settled(page)
    expect(note).to_have_value("")


@pytest.fixture
def data_request(desk: Desk) -> str:
    """The id of a grievance that compliance took in, which can be answered or refused."""
    details = {"kind": "grievance", "name": "Jo Ade", "email": "jo@x.example", "details": "Why so much?"}
    person = Person(
        id=desk.people["compliance"],
        email="compliance@x.example",
        name="C",
        roles=("compliance",),
        claim_limit_minor=None,
    )
    with desk.store.writing(Scope.system()) as session:
        return str(requests.register(session, details, by=person))


@pytest.mark.exhaustive
def test_a_text_of_one_dialog_is_put_back_into_that_one_and_not_into_another(visit: Visit, data_request: str) -> None:
    page = visit("compliance", f"/request?id={data_request}")
    dialog, outcome = page.get_by_role("dialog"), "We explained how the premium was worked out."
    page.get_by_role("button", name="Answer", exact=True).click()
    dialog.get_by_label("Outcome").fill(outcome)
    # Both fields have one name: the dialog is part of what is noted.
    assert "Answer the request Outcome" in noted(page)
    page.reload()
    page.get_by_role("button", name="Refuse", exact=True).click()
    message_field = dialog.get_by_label("What the person is told")
    expect(message_field).to_be_visible()
    settled(page)
    expect(message_field).to_have_value("")
    page.reload()
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(dialog.get_by_label("Outcome")).to_have_value(outcome)


@pytest.fixture
def mail_text(desk: Desk) -> Iterator[TextInUse]:
    """The first text that the desk mails, which is the original again once the test has ended."""
    with desk.store.reading(Scope.system()) as session:
        yield mail_texts.list_texts(session)[0]
    with desk.store.writing(Scope.system()) as session:
        session.execute(sa.delete(MailText))


def save_and_put_back(page: Page, shown: Locator, original: str) -> None:
    """A text that was saved is not typed again after a reload."""
    shown.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile("the next e-mail has this text")).first).to_be_visible()
    # Its title says that it was changed: it is drawn anew, closed.
    shown.locator("summary").click()
    shown.get_by_role("button", name="Back to the original").click()
    # The tab has forgotten the text since it was saved: that alone does not tell whether the press has arrived.
    expect(page.get_by_text(re.compile("the text is the original again")).first).to_be_visible()
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('at your service')")
    page.reload()
    shown.locator("summary").click()
    expect(shown.get_by_label("Text")).to_have_value(original)
    settled(page)
    expect(shown.get_by_label("Text")).to_have_value(original)


@pytest.mark.exhaustive
def test_a_changed_text_outlives_a_reload_unless_it_was_saved_or_somebody_else_has_changed_it_meanwhile(
    visit: Visit, mail_text: TextInUse, desk: Desk
) -> None:
    page = visit("admin", "/mail_texts")
    shown = page.get_by_test_id("stExpander").filter(has_text=mail_text.title).first
    area, edited = shown.get_by_label("Text"), f"{mail_text.text.body}\n\nWe are at your service."
    shown.locator("summary").click()
    settled(page)
    area.fill(edited)
    save_and_put_back(page, shown, mail_text.text.body)
    area.fill(edited)
    for _ in range(2):
        page.reload()
        shown.locator("summary").click()
        expect(area).to_have_value(edited)
        settled(page)
    admin = Person(id=desk.people["admin"], email="admin@x.example", name="A", roles=("admin",), claim_limit_minor=None)
    theirs = {"subject": mail_text.text.subject, "body": f"{mail_text.text.body}\n\nSo it was changed."}
    with desk.store.writing(Scope.system()) as session:
        version = mail_texts.list_texts(session)[0].version
        mail_texts.change_text(session, mail_text.name, theirs, version=version, by=admin)
    page.reload()
    shown.locator("summary").click()
    changed = re.compile("So it was changed")
    expect(area).to_have_value(changed)
    settled(page)
    expect(area).to_have_value(changed)
