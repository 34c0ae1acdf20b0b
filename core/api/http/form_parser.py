"""The multipart parser: limits each file, requires unique names, UTF-8 texts and a final boundary."""

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from core.errors import FieldFault, InvalidInput, TooLarge
from core.services.files.files import MAX_BYTES


class FormParser(MultiPartParser):
    """Starlette's parser with a limit per file, strict UTF-8 and a required final boundary."""

    _received = 0
    _ended = False

    def on_part_begin(self) -> None:
        """Start counting the part's bytes."""
        super().on_part_begin()
        self._received = 0

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Count bytes and reject a file as soon as it is too large."""
        self._received += end - start
        if self._current_part.file is not None and self._received > MAX_BYTES:
            raise TooLarge("A file may have at most 10 MiB")
        super().on_part_data(data, start, end)

    def on_part_end(self) -> None:
        """Reject a text that is not valid UTF-8."""
        if self._current_part.file is None:
            self._current_part.data.decode(self._charset)
        super().on_part_end()

    def on_end(self) -> None:
        """Record that the final boundary arrived."""
        self._ended = True

    async def result(self) -> tuple[dict[str, str], dict[str, UploadFile]]:
        """Return texts and files; InvalidInput when malformed, too large, truncated, or with a repeated name."""
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
                raise InvalidInput.for_field("body", f"must be a well-formed form with {most}") from None
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
