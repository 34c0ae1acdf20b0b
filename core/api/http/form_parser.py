"""The multipart parser under `forms`: each file counted, each name once, texts in Unicode, and an end."""

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from core.errors import FieldFault, InvalidInput, TooLarge
from core.services.files.files import LARGEST


class FormReader(MultiPartParser):
    """The usual parser, which also counts each file, refuses texts that are not Unicode, and wants the end."""

    _received = 0
    _ended = False

    def on_part_begin(self) -> None:
        """Start to count."""
        super().on_part_begin()
        self._received = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Count, and refuse a file that is too large before it is all there."""
        self._received += end - start
        if self._current_part.file is not None and self._received > LARGEST:
            raise TooLarge("A file may have at most 10 MiB")
        super().on_part_data(data, start, end)

    def on_part_end(self) -> None:
        """Refuse a text that would be guessed at."""
        if self._current_part.file is None:
            self._current_part.data.decode(self._charset)
        super().on_part_end()

    def on_end(self) -> None:
        """Note that the last boundary came."""
        self._ended = True

    async def whole(self) -> tuple[dict[str, str], dict[str, UploadFile]]:
        """Its texts and its files; InvalidInput when it is malformed, too much, cut short, or repeats a name."""
        try:
            parsed = await self.parse()
            if not self._ended:
                raise MultiPartException("cut short")
            return _sorted(parsed)
        except BaseException as error:
            for file in self._files_to_close_on_error:
                file.close()
            if isinstance(error, MultiPartException | UnicodeDecodeError):
                most = f"at most {self.max_files} file{'s' if self.max_files > 1 else ''} and {self.max_fields} texts"
                raise InvalidInput.one("body", f"must be a well-formed form with {most}") from None
            raise


def _sorted(parsed: FormData) -> tuple[dict[str, str], dict[str, UploadFile]]:
    texts: dict[str, str] = {}
    uploads: dict[str, UploadFile] = {}
    faults = []
    for name, value in parsed.multi_items():
        if name in texts or name in uploads:
            faults.append(FieldFault(name[:100], "must be given once"))
        elif isinstance(value, str):
            texts[name] = value
        elif value.filename or value.size:
            uploads[name] = value
        else:  # a browser sends an empty part for a file that nobody chose
            value.file.close()
    if faults:
        raise InvalidInput(faults)
    return texts, uploads
