"""One exception tree.

Every error that deepnb raises on purpose is a `DeepnbError`; its message says what happened
and what to do next.

DeepnbError
├── MissingExtraError      an optional package is not installed (also an ImportError)
├── ModelError             a model could not be chosen, loaded, called or replayed
│   ├── UnknownModelError      no such provider, model or file
│   └── UnrecordedRequestError a replayed model was asked something that was not recorded
├── AgentError             an agent could not be built
│   ├── UnknownAgentError      no agent of that name is registered
│   ├── SubagentError          a subagent's description is malformed
│   └── McpError               an MCP server cannot be started, reached or used
├── PolicyError            a research policy cannot be read or understood
├── StepError              a step of a plan cannot be done as it is written
├── FetchError             a page was refused, or could not be fetched
├── WebSearchError         the web could not be searched
├── PathError              a path is malformed, or would leave its root (also a ValueError)
├── ChangedError           a file is not what somebody saw there, so it was left alone
├── KnowledgeError         a knowledge base cannot be opened, or cannot do what it was asked to
├── UnreadableError        a document cannot be read: encrypted, scanned, broken, too large
├── PaymentError           money could not be taken, kept or given back
│   ├── TokenError             a token was not taken, and is still its owner's
│   │   ├── SpentTokenError        it was spent already
│   │   ├── PendingTokenError      it is being spent at this moment
│   │   └── DuplicateTokenError    it is in the wallet already
│   ├── MintError              a mint refuses, or its answer cannot be right
│   │   └── MintUnreachableError   it does not answer, so nobody knows yet
│   ├── PaymentExhaustedError  what was paid in does not cover the next call
│   └── WalletError            the wallet file cannot be opened, or others can read it
├── RunConfigError         a run lacks the configuration that its agent needs
├── NobodyToAskError       a run needs a person's answer and cannot wait for one
├── AnswerError            an answer does not fit the question it is for
│   └── QuestionError          there is no such question, or it was answered already
├── SessionError           a session cannot do what it was asked to
│   └── RunError               a run has no answer: it failed, waits or is not finished
├── ThreadError            a thread's record cannot be opened, read or written
│   ├── ThreadInUseError       another session has it open
│   ├── NewerThreadError       a newer deepnb made it
│   ├── DamagedThreadError     its files cannot be read
│   └── StorageError           its folder is read-only, or the disk is full
└── ExportError            a transcript cannot be written where it should be
"""

from __future__ import annotations


class DeepnbError(Exception):
    """Anything that went wrong in a way deepnb knows and can explain."""


class MissingExtraError(DeepnbError, ImportError):
    """An optional package is not installed."""

    def __init__(self, package: str, install: str) -> None:
        super().__init__(f"{package} is needed here and not installed. Run: pip install {install}")
        self.package = package
        self.install = install


class ModelError(DeepnbError):
    """A model could not be chosen, loaded, called or replayed."""


class UnknownModelError(ModelError):
    """No such provider, model or model file."""


class UnrecordedRequestError(ModelError):
    """A replayed model was asked something that is not in its cassette."""


class AgentError(DeepnbError):
    """An agent could not be built."""


class UnknownAgentError(AgentError):
    """No agent of that name is registered."""


class SubagentError(AgentError):
    """A subagent's description is malformed."""


class McpError(AgentError):
    """An MCP server cannot be started, reached or used."""


class PolicyError(DeepnbError):
    """A research policy cannot be read or understood, so nothing is approved."""


class StepError(DeepnbError):
    """A step of a plan cannot be done as it is written."""


class FetchError(DeepnbError):
    """A page was refused, or could not be fetched.

    `status` is what the server answered, if it did; `again` is whether it may help to try again.
    """

    def __init__(self, message: str, status: int | None = None, *, again: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.again = again


class WebSearchError(DeepnbError):
    """The web could not be searched."""


class PathError(DeepnbError, ValueError):
    """A path is malformed, or would leave its root."""


class ChangedError(DeepnbError):
    """A file is not what somebody saw there, so it was left alone."""


class KnowledgeError(DeepnbError):
    """A knowledge base cannot be opened, or cannot do what it was asked to."""


class UnreadableError(DeepnbError):
    """A document cannot be read; `reason` says why and what to do, without its name."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name!r} {reason}")
        self.name = name
        self.reason = reason


class PaymentError(DeepnbError):
    """Money could not be taken, kept or given back."""


class TokenError(PaymentError):
    """A token was not taken, and is still its owner's."""


class SpentTokenError(TokenError):
    """The token, or a part of it, was spent already."""


class PendingTokenError(TokenError):
    """The token is being spent at this moment, which may still fail."""


class DuplicateTokenError(TokenError):
    """The token, or a part of it, is in the wallet already.

    `handle` is what it goes by, if it was paid into the same account.
    """

    def __init__(self, message: str, handle: str | None = None) -> None:
        super().__init__(message)
        self.handle = handle


class MintError(PaymentError):
    """A mint refuses, or its answer cannot be right; `code` is its own word for why."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class MintUnreachableError(MintError):
    """A mint does not answer, so nobody knows yet whether it did what it was asked to."""


class PaymentExhaustedError(PaymentError):
    """What was paid in does not cover the next call."""

    def __init__(self, message: str, price: int, balance: int) -> None:
        super().__init__(message)
        self.price = price
        self.balance = balance


class WalletError(PaymentError):
    """The wallet file cannot be opened, or others can read it."""


class RunConfigError(DeepnbError):
    """A run lacks the configuration that its agent needs, or it is malformed."""


class NobodyToAskError(DeepnbError):
    """A run needs a person's answer and cannot wait for one."""


class AnswerError(DeepnbError):
    """An answer does not fit the question it is for."""


class QuestionError(AnswerError):
    """There is no such question, or it was answered already."""


class SessionError(DeepnbError):
    """A session cannot do what it was asked to."""


class RunError(SessionError):
    """A run has no answer: it failed, waits for a person or is not finished."""


class ThreadError(DeepnbError):
    """A thread's record cannot be opened, read or written."""


class ThreadInUseError(ThreadError):
    """Another session has the thread open."""


class NewerThreadError(ThreadError):
    """A newer deepnb made the thread."""


class DamagedThreadError(ThreadError):
    """The thread's files cannot be read."""


class StorageError(ThreadError):
    """The thread's folder is read-only, or the disk is full."""


class ExportError(DeepnbError):
    """A transcript cannot be written where it should be."""
