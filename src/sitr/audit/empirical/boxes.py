"""Black boxes: mechanisms of which only the answers are seen. A function, a command, or an endpoint on this machine."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Protocol, cast
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from sitr.audit.empirical.sample import Sample
from sitr.errors import InvalidParameter, InvalidUse, SitrError, SourceError
from sitr.noise.coins import Coins, system_coins

if TYPE_CHECKING:
    from http.client import HTTPMessage
    from typing import IO


class BlackBox(Protocol):
    """Something that answers, at random, when it is given an input."""

    def draw(self, data: Any, size: int, /) -> Sample:
        """This many independent answers to one input."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The answer of a mechanism that stopped with an error, which is an answer too: only its kind is kept."""

    kind: str


@dataclass(frozen=True, slots=True)
class Function:
    """A Python function of the input.

    With a parameter `size`, one call returns that many answers, as an array with one row for each; this is much
    faster. With a parameter `coins`, the function is given coins.

    >>> len(Function(lambda data, size: [data] * size).draw(3, 5))
    5
    """

    call: Callable[..., Any]
    coins: Coins = field(default_factory=system_coins)

    def draw(self, data: Any, size: int, /) -> Sample:
        names = _parameters(self.call)
        if "size" in names:
            return self._together(data, size, {"coins": self.coins} if "coins" in names else {})
        answer = self.answering()
        return Sample.of([answer(data) for _ in range(size)])

    def answering(self) -> Callable[[Any], object]:
        """A function that makes one answer and does nothing else, so that only the mechanism is timed."""
        names, call = _parameters(self.call), self.call
        more: dict[str, Any] = {"coins": self.coins} if "coins" in names else {}
        if "size" in names:
            more["size"] = 1

        def answer(data: Any) -> object:
            try:
                return call(data, **more)
            except Exception as error:  # noqa: BLE001 - what a mechanism does on one input only tells the inputs apart
                return Failed(type(error).__name__)

        return answer

    def _together(self, data: Any, size: int, more: dict[str, Any]) -> Sample:
        """All answers of one call."""
        try:
            answers = self.call(data, size=size, **more)
        except SitrError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InvalidUse(
                given=f"The function failed: {reason}.",
                do="Run it once on this input, or leave out the parameter `size`: then each failure is an answer.",
            ) from error
        returned = len(answers) if hasattr(answers, "__len__") and getattr(answers, "shape", None) != () else 1
        if returned != size or not hasattr(answers, "__len__"):
            raise InvalidUse(
                given=f"The function returned {returned} answers when {size} were requested.",
                do="Return one row for each answer, or leave out the parameter `size`.",
            )
        return Sample.of(answers)


def _parameters(call: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(call).parameters)
    except (TypeError, ValueError):  # some functions written in C have no signature
        return frozenset()


@dataclass(frozen=True, slots=True)
class Command:
    """A program on this machine that prints one line, its answer, and ends.

    The input is JSON, in place of the argument `{input}`, or else on standard input. If there is an argument `{draws}`,
    the program is started once and prints that many lines. A line is read as JSON if it can be, or else as text.

    >>> Command(["echo", "{input}"]).draw(3, 2).numbers.tolist()
    [[3.0], [3.0]]
    """

    arguments: Sequence[str]
    seconds: float = 60.0
    """How long one start may take."""

    def draw(self, data: Any, size: int, /) -> Sample:
        if any("{draws}" in each for each in self.arguments):
            return Sample.of(self._lines(data, size, size))
        return Sample.of([self._lines(data, 1, None)[-1] for _ in range(size)])

    def _lines(self, data: Any, size: int, expected: int | None) -> list[Any]:
        written = json.dumps(data)
        filled = [each.replace("{input}", written).replace("{draws}", str(size)) for each in self.arguments]
        try:
            done = subprocess.run(
                filled,
                input=written,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as failure:
            raise SourceError(
                given=f"The command {self.arguments[0]} could not be run: {failure}.", do="Check its name and its time."
            ) from None
        lines = done.stdout.splitlines()
        if done.returncode != 0 and expected is None:
            return [Failed(f"exit {done.returncode}")]
        if not lines or (expected is not None and len(lines) != expected):
            raise SourceError(
                given=f"The command {self.arguments[0]} printed {len(lines)} lines, and {size} were requested.",
                do="Print one line for each answer.",
            )
        return [_read(line) for line in lines]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address on this machine to which inputs are posted as JSON, and which returns one answer, as JSON or text.

    Only addresses of this machine are allowed, without redirections or proxies: an audit sends thousands of requests,
    and inputs may be sensitive.

    >>> Endpoint("http://example.org/noisy")
    Traceback (most recent call last):
    sitr.errors.InvalidParameter: Expected an address of this machine, such as http://127.0.0.1:8000/count, got ...
    """

    url: str
    seconds: float = 60.0

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            local = parts.scheme == "http" and _local(parts.hostname or "")
        except ValueError:
            local = False
        if not local:
            raise InvalidParameter(
                wanted="an address of this machine, such as http://127.0.0.1:8000/count",
                given=repr(self.url),
                do="Run the service here: an audit sends thousands of requests.",
            )

    def draw(self, data: Any, size: int, /) -> Sample:
        opener = build_opener(ProxyHandler({}), _NoRedirect())
        content = json.dumps(data).encode()
        found = []
        for _ in range(size):
            request = Request(self.url, data=content, headers={"Content-Type": "application/json"}, method="POST")
            try:
                with opener.open(request, timeout=self.seconds) as reply:
                    found.append(_read(reply.read().decode("utf-8", errors="replace").strip()))
            except HTTPError as refusal:
                found.append(Failed(f"status {refusal.code}"))
                refusal.close()
            except (URLError, TimeoutError, ConnectionError) as failure:
                raise SourceError(
                    given=f"No answer from {self.url}: {failure}.", do="Check that the service is running."
                ) from None
        return Sample.of(found)


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """A redirection is an answer; it is not followed."""


def _local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _read(line: str) -> Any:
    try:
        found = json.loads(line)
    except ValueError:
        return line
    return tuple(found) if isinstance(found, list) else found


def box_of(subject: object) -> BlackBox:
    """A black box as it is, or a function as one."""
    if hasattr(subject, "draw"):
        return cast("BlackBox", subject)
    if callable(subject):
        return Function(subject)
    raise InvalidUse(
        wanted="a function, Command(…) or Endpoint(…)", given=repr(subject), do="Wrap the mechanism in a function."
    )
