"""My tasks: what a person has to do on claims, by the day it is due."""

import streamlit as st

from core.services.claims.diary import tasks as claim_tasks
from core.store.access import reading
from core.ui.claims_diary import tasks as claims_diary
from core.ui.frame import frame
from core.ui.kit import words


def draw() -> None:
    person = frame.require("claims", "supervisor")
    frame.page_header(
        "My tasks", "What you have to do on claims: given to you, or due by rule on claims that are yours."
    )
    with reading(frame.scope()) as session:
        found = claim_tasks.list_mine(session, person)
    late = sum(task.is_overdue for task in found)
    if found:
        st.markdown(
            f"**{words.count(len(found))}** {'task' if len(found) == 1 else 'tasks'}, {words.count(late)} overdue"
        )
    else:
        st.info("Nothing is due. Tasks are made on the diary of a claim.", icon=":material/task_alt:")
    claims_diary.draw_list(found)
