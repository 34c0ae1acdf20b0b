"""Files of distributors."""

from core.services.files import files
from core.services.files.files import ReceivedFile
from core.store.access import Store
from tests.conftest import Partner
from tests.papers import pdf


def upload(store: Store, partner: Partner) -> str:
    with files.store_files([ReceivedFile(field="file", file_name="letter.pdf", content=pdf())]) as kept:
        with store.writing(partner.scope()) as session:
            files.record(session, kept[0], partner.seller(), actor="tests")
        return kept[0].code
