"""The desk that questions are put on: which are open, which answered, and what the graph knows."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from deepnb.errors import AnswerError, QuestionError, SessionError
from deepnb.session.edits import as_meant, true_arguments
from deepnb.session.graph import is_at_rest
from deepnb.session.packing import packed, unpacked
from deepnb.session.questions import Closed, Question, in_one_form
from deepnb.session.stream import Scope

if TYPE_CHECKING:
    from langgraph.types import Interrupt, StateSnapshot

    from deepnb.middleware.supervision import Supervisor
    from deepnb.record import Record


class Desk:
    """Holds the questions of a thread; `accept` may be called from any thread of the process.

    Answers are kept in the record until the graph has them, so that one that was given is not
    lost with the kernel. None is sent twice: LangGraph would take it for the answer to the next
    question of the same task.
    """

    def __init__(self, record: Record, supervisor: Supervisor) -> None:
        self.open: dict[str, Question] = {}
        self.closed: dict[str, Closed] = {}
        self._record = record
        self._supervisor = supervisor
        self._lock = threading.RLock()  # a listener may answer the next question at once
        self._sent: set[str] = set()
        self._withdrawn: set[str] = set()
        self._passed_over: set[str] = set()

    def __str__(self) -> str:
        return "; ".join(map(str, self.open.values())) or "an answer"

    def put(self, interrupt: Interrupt, scope: Scope) -> None:
        """Open a question, unless it is known."""
        request = in_one_form(interrupt.value)
        if question := self.open.get(interrupt.id):
            # After a restart it comes from the log, which holds no secrets.
            self.open[interrupt.id] = replace(question, request=request)
            return
        if interrupt.id in self.closed.keys() | self._sent | self._passed_over:
            return
        question = Question(interrupt.id, request, scope.agent, scope.parent, scope.call)
        self.open[interrupt.id] = question
        self._tell("interrupt_opened", question, request=question.request)

    def accept(self, identity: str, answer: Any, by: str) -> bool:
        """Take an answer, once; False if it was given before.

        Raises:
            QuestionError: There is no such question, or it has another answer already.
            AnswerError: The answer does not fit.
        """
        identity = str(identity)
        with self._lock:
            if closed := self.closed.get(identity):
                self._check_same(closed, as_meant(answer, closed.question, self._told(identity)))
            elif question := self.open.get(identity):
                self._take(question, as_meant(answer, question, self._told(identity)), by)
                return True
            else:
                raise self._unknown(identity)
        return False

    def _told(self, identity: str) -> Any:
        """Give a question as whoever answers it has seen it."""
        events = reversed(self._record.log.since(0))
        opened = (e.data for e in events if e.kind == "interrupt_opened")
        return next((data["request"] for data in opened if data["id"] == identity), None)

    def edited_call(
        self, identity: str, action: int, args: dict[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """Give the tool that an action of an open question would call, and what with.

        Raises:
            QuestionError: There is no such question open, or it has no such action.
        """
        question = self.open.get(identity)
        if question is None:
            raise self._unknown(identity)
        if question.type != "tool_approval" or not 0 <= action < len(question.tools):
            raise QuestionError(f"The question {identity} has no action {action}.")
        told = self._told(identity)
        return question.tools[action], true_arguments(args, question, told, action)

    def _unknown(self, identity: str) -> QuestionError:
        what = f"There is no question {identity!r:.60}"
        if identity in self._withdrawn:
            what = f"The run that asked {identity} was stopped, so nothing waits for it"
        elif identity in self.closed:
            what = f"The question {identity} was answered already"
        return QuestionError(f"{what}. Open questions: {', '.join(self.open) or 'none'}.")

    def _take(self, question: Question, answer: Any, by: str) -> None:
        checked = question.checked(answer)
        try:
            exactly = packed(checked)
        except SessionError as error:
            raise AnswerError(f"{error} The question is still open.") from None
        shown = question.public(checked)
        self._record.put_answer(question.id, exactly)
        del self.open[question.id]
        self.closed[question.id] = Closed(question, shown, exactly)
        self._tell("interrupt_closed", question, answer=shown, by=by)

    @staticmethod
    def _check_same(closed: Closed, answer: Any) -> None:
        if not closed.is_answered_by(answer):
            raise QuestionError(
                f"The question {closed.question.id} was answered already, with "
                f"{closed.shown!r:.200}. session.pending shows what is open."
            )

    def close_answered(self) -> None:
        """Close what was answered in the moment before the kernel ended."""
        for identity, exactly in self._record.answers().items():
            if question := self.open.pop(identity, None):
                shown = question.public(unpacked(exactly))
                self.closed[identity] = Closed(question, shown, exactly)
                self._tell("interrupt_closed", question, answer=shown, by="person")

    def withdraw(self) -> None:
        """Close what is open: nobody waits for it any more."""
        with self._lock:
            while self.open:  # a listener may answer the next one
                self._withdraw(next(iter(self.open.values())))

    def pass_over(self, call: str) -> None:
        """Withdraw the questions of one subagent, and do not put them again for now."""
        with self._lock:
            for question in [each for each in self.open.values() if each.call == call]:
                if question.id in self.open:
                    self._passed_over.add(question.id)
                    self._withdraw(question)

    def _withdraw(self, question: Question) -> None:
        del self.open[question.id]
        self._withdrawn.add(question.id)
        self._tell("interrupt_closed", question, answer=None, by="stop")

    def reconcile(self, state: StateSnapshot, agent: str) -> None:
        """Have open what the graph waits for, and nothing else."""
        for interrupt in state.interrupts:
            self.put(interrupt, Scope(agent))
        if is_at_rest(state):
            self.withdraw()  # else they will come up again, under their ids

    def to_send(self, state: StateSnapshot) -> dict[str, Any]:
        """Give the answers that the graph waits for and was not sent yet; they are sent now."""
        pending = {interrupt.id for interrupt in state.interrupts}
        new = {
            identity: unpacked(answer)
            for identity, answer in self._record.answers().items()
            if identity in pending and identity not in self._sent
        }
        self._sent |= new.keys()
        return new

    def has_news(self, state: StateSnapshot) -> bool:
        """Whether the graph has to go on without an answer.

        A subagent was passed over, or a question is open, or answered, that the graph does not
        know of: it was put, and the kernel ended before the checkpoint had it.
        """
        pending = {interrupt.id for interrupt in state.interrupts}
        passed_over, self._passed_over = self._passed_over, set()
        unsent = self._record.answers().keys() - self._sent
        return bool(passed_over) or not self.open.keys() | unsent <= pending

    @property
    def is_answered(self) -> bool:
        """Whether there is something to tell the graph."""
        return bool(self._passed_over or self._record.answers().keys() - self._sent)

    def put_again(self, state: StateSnapshot) -> None:
        """Open again what LangGraph has refused the answer to."""
        for interrupt in state.interrupts:
            if interrupt.id in self._sent:
                self._sent.discard(interrupt.id)
                self._record.drop_answer(interrupt.id)
                refused = self.closed.pop(interrupt.id).question
                self.put(interrupt, Scope(refused.agent, refused.parent, refused.call))

    def forget_delivered(self, state: StateSnapshot) -> None:
        """Let go of answers that the graph has."""
        pending = {interrupt.id for interrupt in state.interrupts}
        for identity in self._record.answers().keys() - pending:
            self._record.drop_answer(identity)

    def forget_sent(self) -> None:
        """Begin anew: another run will put other questions."""
        self._sent.clear()

    def _tell(self, kind: Any, question: Question, **data: Any) -> None:
        self._record.log.append(
            kind,
            run=self._supervisor.run,
            agent=question.agent,
            parent=question.parent,
            call=question.call,
            step=self._supervisor.step,
            checkpoint=self._supervisor.checkpoint,
            data={"id": question.id, **data},
        )
