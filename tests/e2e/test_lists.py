"""Lists of records in a real browser: a row opens by click and by key, a header sorts every row, Back is one step."""

import re
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from playwright.sync_api import Locator, Page, expect

from core import clock, ids, money
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.desk.exported_lists import get_kind
from core.services.catalogue import keys
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import settlement
from core.services.finance.reconciling import reconciliations
from core.services.finance.statements import statements
from core.services.lists.exports import CSV, Tally
from core.services.people import staff
from core.services.people.staff import Person
from core.services.renewals import due
from core.states.finance import StatementState
from core.store.access import Scope
from core.store.schema.tables import Policy, Purchase, Submission
from core.ui.kit import words
from tests.e2e.conftest import Desk, Visit, settled
from tests.every_case import every_case


@dataclass(frozen=True)
class Records:
    """A list: who opens it and where, and what is promised of it besides the way to a record and back."""

    role: str
    path: str
    order: str | None = None
    """The header by which it is ordered in another way than the usual one."""
    columns: bool = False
    """Its columns can be chosen; otherwise that order stands in the path."""
    high: bool = False
    """Everybody works from it: it leaves little room above its first row, fits a telephone, and opens by keys too."""
    opens: bool = True


LISTS = {
    "purchases": Records("operations", "/purchases?period=1y", "Premium", columns=True, high=True),
    "renewals": Records("operations", "/renewals", "Renewed", columns=True, high=True),
    "due": Records("operations", "/due", "Ends", columns=True, high=True),
    "customers": Records("operations", "/customers", "Name", columns=True, high=True),
    "policies": Records("operations", "/search", "Ends", columns=True, high=True),
    "awaiting": Records("operations", "/awaiting?state=dead", "Waiting", columns=True),
    "claims": Records("claims", "/queue?view=all", "Claimant", columns=True, high=True),
    "audit log": Records("admin", "/audit_log?kind=key", high=True),
    "exports": Records("finance", "/exports", "Rows", columns=True),
    "movements": Records("finance", "/movements", "When", columns=True, high=True),
    "statements": Records("finance", "/statements?order=month-back", "Of the month", high=True),
    "balances": Records("finance", "/payments", high=True, opens=False),
    "bordereaux": Records("finance", "/bordereaux", high=True, opens=False),
    "reconciliations": Records("finance", "/reconcile", high=True, opens=False),
    "products": Records("admin", "/products?on=true", "Insurer", columns=True),
    "keys": Records("admin", "/keys?order=distributor", "Distributor"),
    "staff": Records("admin", "/staff?order=email-back", "E-mail"),
    "distributors": Records("admin", "/partners?view=distributors", "Since", columns=True),
    "insurers": Records("admin", "/partners?view=insurers"),
}
MAIN = "document.querySelector('[data-testid=stMain]')"


@pytest.fixture(scope="session", autouse=True)
def filled(desk: Desk) -> None:
    """Something stands on every list."""
    since = clock.now() - timedelta(hours=36, minutes=30)  # an age that stays the same for as long as a test takes
    with desk.store.writing(Scope.system()) as session:
        keys.issue_key(session, distributor_id=desk.seller, is_live=True, name="Shop", actor="tests")
        policy = session.execute(sa.select(Policy).where(Policy.is_live).limit(1)).scalar_one()
        session.insert(
            Submission(
                policy_id=policy.id,
                provider_id=policy.provider_id,
                distributor_id=policy.distributor_id,
                is_live=True,
                state="dead",
                created_at=since,
                updated_at=since,
            )
        )
        kind = get_kind("purchases")
        order = ExportOrder(id=ids.new(), kind=kind, format=CSV, selection=kind.read({}), is_live=True, actor="tests")
        export_runs.store_receipt(session, order, Tally())
    keep_books(desk)


def keep_books(desk: Desk) -> None:
    """A statement is sent, so that there is a balance, and a file of an insurer was compared with our records."""
    finance, admin = (person_of(desk, role) for role in ("finance", "admin"))
    party = Party("distributor", desk.seller)
    with desk.store.writing(Scope.staff(is_live=True)) as session:
        # That of a month without premium leaves no balance; which month has some depends on the day of today.
        while not settlement.list_balances(session):
            month = statements.find_due_month(session, party)
            assert month
            statement = statements.prepare(session, party, month, by=finance, without_withholding=True)
            for state in (StatementState.APPROVED, StatementState.SENT):
                statements.move(session, statement, state, by=admin)
        provider = next(each.id for each, _ in parties.list_parties(session) if each.account == "provider")
        typed = {"kind": "insurer", "month": str(month), "file_name": "account.csv", "amount_is": "gross"}
        typed |= {"tolerance": "1.00", "timing_days": 5}
        typed |= {"columns": {"policy_number": "Policy", "amount": "Amount"}}
        reconciliations.run(session, typed, b"Policy,Amount\nX/1,100.00\n", by=finance, provider_id=provider)


def person_of(desk: Desk, role: str) -> Person:
    with desk.store.reading(Scope.system()) as session:
        return staff.get_by_email(session, f"{role}@coverdesk.example")


def bucket(desk: Desk) -> str:
    with desk.store.reading(Scope.staff(is_live=True)) as session:
        buckets = due.list_due(session, clock.today())
    return next(each.key for each in buckets if each.policies)


def entries(page: Page) -> int:
    found: int = page.evaluate("history.length")
    return found


def arrived(page: Page, *, title_before: str) -> None:
    """Wait for a record: the address is there at once, the title with the first words of its own run."""
    expect(page).to_have_url(re.compile(r"[?&]id="))
    expect(page).not_to_have_title(title_before)
    settled(page)


def came_back(page: Page, address: str, title: str) -> None:
    expect(page).to_have_url(address)
    expect(page).to_have_title(title)
    settled(page)


@pytest.mark.exhaustive
@every_case("name", LISTS)
def test_every_list_has_room_keeps_its_order_and_leads_to_a_record_and_back(
    visit: Visit, desk: Desk, name: str
) -> None:
    keeps_its_promises(visit, desk, name)


def keeps_its_promises(visit: Visit, desk: Desk, name: str) -> None:
    """All that is promised of a list, on one page: opening it anew for each promise would take most of the time."""
    listed = LISTS[name]
    page = visit(listed.role, f"{listed.path}?bucket={bucket(desk)}" if name == "due" else listed.path)
    if name == "claims":
        has_its_bar_in_the_place_of_the_sum(page)
    if name == "awaiting":
        keeps_the_colour_of_a_state(page)
    if listed.high:
        begins_high_and_fits_a_telephone(page)
    if listed.columns:
        assert listed.order
        stays_ordered_after_the_columns_were_opened(page, listed.order)
    if listed.opens:
        opens_by_click(page, listed.order, cell=-2 if name in ("awaiting", "due") else -1)
    if listed.opens and listed.high:
        opens_by_key_and_goes_back_and_forward(page)


def begins_high_and_fits_a_telephone(page: Page) -> None:
    """It scrolls with the page at that."""
    usual = page.viewport_size
    assert usual
    page.set_viewport_size({"width": 1440, "height": 900})
    first = page.locator("tbody tr:has(a)").first
    top = first.bounding_box()
    assert top
    assert top["y"] < 262, top
    box = page.locator(".scroller").first
    assert box.evaluate("box => box.scrollHeight <= box.clientHeight + 1"), "no scroll of its own"
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"() => {MAIN}.scrollWidth <= {MAIN}.clientWidth")
    cells = first.locator("th:visible, td:visible").evaluate_all("all => all.map(c => c.getBoundingClientRect().y)")
    assert len({round(y / 16) for y in cells}) <= 3, "two lines"
    page.set_viewport_size(usual)


def stays_ordered_after_the_columns_were_opened(page: Page, order: str) -> None:
    columns = page.get_by_role("button", name="Columns", exact=True)
    columns.click()
    page.get_by_text("Columns to show").wait_for()
    columns.click()
    expect(page.get_by_text("Columns to show")).to_be_hidden()
    header = column_header(page, order)
    before = header.get_attribute("aria-sort")
    header.get_by_role("link").click()
    expect(page).to_have_url(re.compile("order="))
    expect(header).not_to_have_attribute("aria-sort", before or "")
    expect(header).to_have_attribute("aria-sort", re.compile("ending$"))
    settled(page)
    address, rows = page.url, page.locator("tbody tr:has(a)").all_inner_texts()
    tick, following = page.locator("tbody input[type=checkbox]"), page.get_by_test_id("stPagination").get_by_label("2")
    if tick.count():
        tick.first.click()
    elif following.count():
        following.first.click()
        expect(page).to_have_url(re.compile("page=2"))
        address = page.url
    else:
        page.reload()
    settled(page)
    page.wait_for_timeout(500)
    expect(page).to_have_url(address)
    if "page=" not in address:
        assert page.locator("tbody tr:has(a)").all_inner_texts() == rows
    if tick.count():
        tick.first.click()
        settled(page)


def opens_by_click(page: Page, order: str | None, *, cell: int) -> None:
    """Back from the record is the same list, in one step."""
    address, title, rows = page.url, page.title(), page.locator("tbody tr:has(a)")
    first = rows.first.text_content() or ""
    before = entries(page)
    rows.first.locator("td:visible").nth(cell).click()
    arrived(page, title_before=title)
    assert entries(page) == before + 1
    page.go_back()
    came_back(page, address, title)
    expect(rows.first).to_have_text(first, use_inner_text=False)
    if order:
        expect(column_header(page, order)).to_have_attribute("aria-sort", re.compile("ending$"))
    settled(page)


def opens_by_key_and_goes_back_and_forward(page: Page) -> None:
    address, title, rows = page.url, page.title(), page.locator("tbody tr:has(a)")
    first = rows.first.text_content() or ""
    rows.first.get_by_role("link").focus()
    page.keyboard.press("Enter")
    arrived(page, title_before=title)
    page.go_back()
    came_back(page, address, title)
    # Whoever goes on before the list has come back would meet a page that is still being drawn.
    # A record may show rows of its own, so that it is the list's first row that tells.
    expect(rows.first).to_have_text(first, use_inner_text=False)
    settled(page)
    page.go_forward()
    arrived(page, title_before=title)


@pytest.mark.exhaustive
def test_a_filter_that_was_taken_away_stays_away_after_its_drawer_was_opened_once_and_from_the_menu(
    visit: Visit,
) -> None:
    page = visit("operations", "/purchases?source=api")
    source = page.get_by_role("button", name=re.compile("^Request source"))
    page.get_by_role("navigation", name="App pages").get_by_role("link", name="Purchases", exact=True).click()
    expect(page).to_have_url(re.compile("/purchases$"))
    expect(page.get_by_text("All time", exact=False).first).to_be_visible()
    expect(source).to_have_count(0)
    page.go_back()
    expect(source).to_be_visible()
    settled(page)
    drawer = page.get_by_role("button", name="Filter", exact=True)
    drawer.click()
    expect(page.locator(".st-key-filter_fields")).to_be_visible()
    drawer.click()
    expect(page.locator(".st-key-filter_fields")).to_be_hidden()
    source.click()
    expect(page).not_to_have_url(re.compile("source="))
    settled(page)
    column_header(page, "Premium").get_by_role("link").click()
    expect(page).to_have_url(re.compile("order=largest"))
    settled(page)
    page.get_by_role("button", name="Columns", exact=True).click()
    page.get_by_test_id("stPopoverBody").get_by_text("Source", exact=True).click()
    expect(page).to_have_url(re.compile("show="))
    settled(page)
    assert "source=" not in page.url


def column_header(page: Page, name: str) -> Locator:
    """The header of a record list; tables of sums have headers of the same names."""
    return page.locator("th[scope=col]").and_(page.get_by_role("columnheader", name=name))


def test_a_header_sorts_all_rows_stays_in_sight_and_back_finds_the_list_where_it_was_left(
    visit: Visit, desk: Desk
) -> None:
    with desk.store.reading(Scope.staff(is_live=True)) as session:
        totals = sorted(session.execute(sa.select(Purchase.total_minor)).scalars())
    assert len(totals) > 50, "more than a page"
    page = visit("operations", "/purchases")
    header, before = column_header(page, "Premium"), entries(page)
    header.get_by_role("link").press("Enter")
    expect(header).to_have_attribute("aria-sort", "descending")
    expect(page.locator("tbody tr:has(a)").first).to_contain_text(words.naira(totals[-1]))
    header.get_by_role("link").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(page.locator("tbody tr:has(a)").first).to_contain_text(words.naira(totals[0]))
    assert parse_qs(urlsplit(page.url).query) == {"order": ["smallest"]}
    assert entries(page) == before + 2
    assert money.format_naira(totals[0]) in page.locator("tbody tr:has(a)").first.inner_text()
    settled(page)
    title = page.title()
    page.evaluate(f"{MAIN}.scrollTo({{top: 900}})")
    expect(header).to_be_in_viewport()
    page.locator("tbody tr:has(a)").nth(25).click()
    arrived(page, title_before=title)
    page.go_back()
    expect(page).to_have_title(title)
    settled(page)
    page.wait_for_function(f"() => {MAIN}.scrollTop === 900")


def test_a_row_opens_in_a_new_tab_arrows_walk_through_the_rows_and_titles_say_where_one_is(visit: Visit) -> None:
    page = visit("operations", "/purchases")
    expect(page).to_have_title("Purchases · Coverdesk")
    address = page.url
    with page.context.expect_page() as opened:
        page.locator("tbody tr:has(a)").nth(2).locator("td").first.click(modifiers=["Control"])
    assert "id=" in opened.value.url
    expect(page).to_have_url(address)
    rows = page.locator("tbody tr:has(a)")
    rows.first.get_by_role("link").focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    page.locator("tbody tr:has(a)").first.locator("td").first.click()
    arrived(page, title_before="Purchases · Coverdesk")
    expect(page).to_have_title(re.compile(r".+ · Purchase · Coverdesk"))
    page.get_by_role("link", name="Open the policy").click()
    expect(page).to_have_title(re.compile(r".+ · Policy · Coverdesk"))
    page.goto("/nowhere-at-all")
    expect(page).to_have_title("Page not found · Coverdesk")


def test_the_search_of_a_policy_begins_anew_from_the_menu_and_is_there_again_by_back(visit: Visit) -> None:
    page = visit("claims", "/lodge")
    menu, search = page.get_by_role("navigation", name="App pages"), page.get_by_role("searchbox", name="Policy")
    search.fill("no such policy")
    search.press("Enter")
    expect(page.get_by_text("There is no policy “no such policy”")).to_be_visible()
    settled(page)
    expect(search).to_be_focused()
    menu.get_by_role("link", name=re.compile("^My tasks")).click()
    expect(page).to_have_url(re.compile("/tasks$"))
    settled(page)
    page.go_back()
    expect(search).to_have_value("no such policy")
    settled(page)
    menu.get_by_role("link", name=re.compile("^My tasks")).click()
    expect(page).to_have_url(re.compile("/tasks$"))
    menu.get_by_role("link", name="Lodge a claim").click()
    expect(page.get_by_text("Find the caller's policy to begin")).to_be_visible()
    expect(search).to_have_value("")


def has_its_bar_in_the_place_of_the_sum(page: Page) -> None:
    """Ticking a row moves nothing under the pointer."""
    first = page.locator("tbody tr:has(a)").first
    before = first.bounding_box()
    expect(page.get_by_role("button", name="Assign to me")).to_have_count(0)
    page.locator("tbody input[type=checkbox]").first.click()
    expect(page.get_by_role("button", name="Assign to me")).to_be_visible()
    expect(page.get_by_role("button", name="Columns", exact=True)).to_have_count(0)
    settled(page)
    assert first.bounding_box() == before, "nothing moved under the pointer"
    page.set_viewport_size({"width": 1280, "height": 420})
    page.locator("tbody tr:has(a)").last.scroll_into_view_if_needed()
    expect(first).not_to_be_in_viewport()
    expect(page.get_by_role("button", name="Assign to me")).to_be_in_viewport()
    page.get_by_role("button", name="Choose none").click()
    expect(page.get_by_role("button", name="Columns", exact=True)).to_be_visible()
    settled(page)


def keeps_the_colour_of_a_state(page: Page) -> None:
    """It stands beside the link of its row."""
    row = page.locator("tbody tr:has(a)").first
    state = row.locator(".word.orange").first.evaluate("cell => getComputedStyle(cell).color")
    assert state != row.locator("a").first.evaluate("link => getComputedStyle(link).color")
    assert state == page.locator(".word.orange").last.evaluate("cell => getComputedStyle(cell).color")


@pytest.mark.exhaustive
def test_filters_and_formats_have_room_for_their_words_and_four_columns_stay_in_little(visit: Visit) -> None:
    page = visit("operations", "/purchases")
    page.get_by_role("button", name="Filter", exact=True).click()
    fields = page.locator(".st-key-filter_fields")
    expect(fields).to_be_visible()
    boxes = [fields.get_by_text(label, exact=True).bounding_box() for label in ("Insurer", "Category")]
    assert len({box["y"] for box in boxes if box}) == 1, "side by side"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export", exact=True).click()
    word = page.get_by_role("link", name="CSV for Excel as shown").locator("p")
    expect(word).to_be_visible()
    assert word.evaluate("word => word.scrollWidth <= word.clientWidth")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 820, "height": 900})
    heads = page.locator("thead th[scope=col]").locator("visible=true")
    expect(heads).to_have_text([re.compile(f"^{label}") for label in ("Customer", "Product", "Premium", "Sold")])


@pytest.mark.exhaustive
def test_the_charts_begin_in_the_upper_part_and_in_the_dark_the_chosen_segment_is_the_brightest_of_its_group(
    visit: Visit, page: Page
) -> None:
    page.set_viewport_size({"width": 1440, "height": 1000})
    page.emulate_media(color_scheme="dark")
    visit("operations", "/dashboard?period=1y")
    top = page.get_by_text("Gross written premium over time", exact=True).bounding_box()
    assert top
    assert top["y"] < 620, "the title of the first chart, 20 pixels inside its card"
    for group in page.get_by_role("radiogroup").all():
        colours = group.get_by_role("radio").evaluate_all(
            """all => all.map(one => [
                one.ariaChecked, getComputedStyle(one).color, getComputedStyle(one).backgroundColor])"""
        )
        chosen = next(colour for checked, *colour in colours if checked == "true")
        others = [text for checked, text, _ in colours if checked != "true"]
        assert all(_luminance(chosen[0]) > _luminance(text) for text in others)
        assert _contrast(*map(_luminance, chosen)) >= 4.5


@pytest.mark.exhaustive
def test_one_act_is_one_entry_on_the_dashboard_and_in_the_menu(visit: Visit) -> None:
    page = visit("operations", "/dashboard?period=1y&mode=live")
    expect(page).to_have_url(re.compile("/[?]period=1y"))
    menu = page.get_by_role("navigation", name="App pages")
    expect(menu.get_by_role("link", name="Dashboard", exact=True)).to_have_attribute("aria-current", "page")
    before = entries(page)
    page.get_by_text("Custom", exact=True).click()
    expect(page).to_have_url(re.compile("from=.*to="))
    settled(page)
    assert entries(page) == before + 1
    address = page.url
    way = page.get_by_role("link", name=re.compile("^See th(is|ese) .*purchases?")).first
    # The charts above may still grow: what counts is where the page stands when it is left.
    page.evaluate(f"document.addEventListener('click', () => {{ window.leftAt = {MAIN}.scrollTop; }}, true)")
    way.click()
    expect(page).to_have_url(re.compile("/purchases[?]from="))
    settled(page)
    assert entries(page) == before + 2
    left_at = page.evaluate("window.leftAt")
    assert left_at > 0
    page.go_back()
    expect(page).to_have_url(address)
    settled(page)
    page.wait_for_function(f"place => Math.abs({MAIN}.scrollTop - place) <= 1", arg=left_at)
    page.get_by_text("Test", exact=True).click()
    expect(page).to_have_url(re.compile("mode=test"))
    settled(page)
    now = entries(page)
    menu.get_by_role("link", name="Renewals", exact=True).click()
    expect(page).to_have_url(re.compile("/renewals[?]mode=test"))
    settled(page)
    assert entries(page) == now + 1


def _contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
