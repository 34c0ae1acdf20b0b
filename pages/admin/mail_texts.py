"""E-mail texts: what the desk writes to policyholders and distributors, changed by an admin."""

from core.services.admin import mail_texts
from core.store.access import Scope, reading
from core.ui.frame import frame
from core.ui.kit import actions
from core.ui.letters import text_form


def draw() -> None:
    frame.require("admin")
    frame.page_header(
        "E-mail texts", "What the desk writes to policyholders and distributors; a value stands where its $name is."
    )
    actions.run()
    with reading(Scope.system()) as session:
        texts = mail_texts.list_texts(session)
    for text in texts:
        text_form.draw(text)
