"""A file that is chosen when a run begins is sent: the browser gets the address that it asked for."""

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from core.ui.frame import frame


def waiting() -> ForwardMsgQueue:
    queue, answer, drawn = ForwardMsgQueue(), ForwardMsg(), ForwardMsg()
    answer.file_urls_response.response_id = "of the letter"
    drawn.delta.new_element.markdown.body = "of the run before"
    queue.enqueue(answer)
    queue.enqueue(drawn)
    return queue


@pytest.mark.parametrize("fragments", [None, ["of a dialog"]])
def test_the_answer_where_to_send_a_file_outlives_the_begin_of_a_run(
    fragments: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    frame.keep_upload_addresses()
    frame.keep_upload_addresses()
    queue = waiting()
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=fragments)
    answers = [each.file_urls_response.response_id for each in queue.flush() if each.HasField("file_urls_response")]
    assert answers == ["of the letter"]
