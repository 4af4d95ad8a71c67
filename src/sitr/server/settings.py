"""What the operator of a server decides, from a file such as sitr.toml."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sitr.errors import DescriptionError, FileError, quoted

SECRET = "SITR_SECRET"
"""The environment variable with the secret, if no file holds it."""

LEAST_SECRET = 32
"""The fewest characters of a secret."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server."""

    state: Path
    """The folder of the server's own database. Whoever reads it learns names and hashed passwords."""
    secret: str = field(repr=False)
    """A long random text, from which the marks of forms are made."""
    datasets: Mapping[str, Path] = field(default_factory=dict)
    """Public descriptions (`*.sitr.yaml`) by the names under which people find them."""
    folders: tuple[Path, ...] = ()
    """Folders whose Parquet and CSV files stewards may register. Whatever lies elsewhere, or is a link, is not seen."""
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    """The names under which the server may be called. Others are refused."""
    address: str = "127.0.0.1"
    port: int = 8300
    workers: int = 1
    tls: bool = False
    """Whether people reach the server by https, through a proxy in front of it."""
    answer_rows: int = 1_000_000
    """A public number of rows from which the deadline of answers is computed; 0 promises nothing about time."""
    idle_minutes: int = 30
    session_hours: int = 12
    previews_per_minute: int = 600
    answers_per_minute: int = 60
    answers_at_once: int = 10
    """For how many answers one person may wait at the same time, in each process; 0 for any number."""
    logins_per_minute: int = 10
    most_octets: int = 1_000_000
    """The longest request."""
    timeout_seconds: int = 30
    """How long the body of a request may take to arrive."""
    webhook: str = ""
    """An address to notify of requests and decisions: which data set and which number, never the question."""
    oidc_issuer: str = ""
    """The identity provider at which people may log in; empty for none."""
    oidc_client: str = ""
    """The name by which the provider knows this server."""
    oidc_secret: str = field(default="", repr=False)
    """What the provider has agreed on with this server; empty if it is known by its address alone."""
    oidc_address: str = ""
    """The address of this server, such as https://sitr.local, to which the provider sends people back."""

    def __post_init__(self) -> None:
        check_secret(self.secret)
        for name in ("workers", "idle_minutes", "session_hours", "most_octets", "timeout_seconds"):
            _check_number(name, getattr(self, name), least=1)
        for name in (
            *("answer_rows", "port", "answers_at_once"),
            *("previews_per_minute", "answers_per_minute", "logins_per_minute"),
        ):
            _check_number(name, getattr(self, name), least=0)
        if not self.hosts or any(not isinstance(host, str) or not host for host in self.hosts):
            raise DescriptionError(
                wanted="a list of host names", given=quoted(self.hosts), do='Write for example hosts = ["sitr.local"].'
            )
        _check_provider(self)


def _check_number(name: str, value: object, *, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise DescriptionError(
            wanted=f"a whole number of at least {least} for {name}", given=quoted(value), do="Correct the settings."
        )


def _check_provider(settings: Settings) -> None:
    """Refuse a provider without what it needs, or whose words others could change on the way."""
    names = ("oidc_issuer", "oidc_client", "oidc_address")
    given = {name: getattr(settings, name) for name in names}
    if not settings.oidc_issuer and not settings.oidc_client and not settings.oidc_address:
        return
    for name, value in given.items():
        if not isinstance(value, str) or not value:
            raise DescriptionError(wanted=f"a text for {name}", given=quoted(value), do="Correct the settings.")
    for name in ("oidc_issuer", "oidc_address"):
        if not trusted(given[name]):
            raise DescriptionError(
                wanted=f"an address with https for {name}", given=quoted(given[name]), do="Correct the settings."
            )


def trusted(address: object) -> bool:
    """Whether nobody on the way can read or change what an address says.

    >>> trusted("https://id.example"), trusted("http://127.0.0.1:80/x"), trusted("http://id.example"), trusted(None)
    (True, True, False, False)
    """
    if not isinstance(address, str):
        return False
    parts = urlsplit(address)
    here = parts.hostname in ("127.0.0.1", "::1", "localhost")
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and here))


def check_secret(secret: object) -> None:
    """Refuse to start without a secret, or with one that others can guess."""
    if not isinstance(secret, str) or len(secret.strip()) < LEAST_SECRET or len(set(secret)) < 10:
        raise DescriptionError(
            given=f"The server needs a secret of at least {LEAST_SECRET} random characters.",
            do="Write it to a file that only the server reads, and name the file with secret_file: for example "
            "openssl rand -hex 32 > secret.",
        )


def read_settings(path: Path, environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in a file. The paths in it start from its folder.

    The secret is in the file that `secret_file` names, or in the variable SITR_SECRET; never in the settings.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(given=f"There is no file {path}.", do="Check the path.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise FileError(given=f"Cannot read {path}: {problem}.", do="Correct it.") from None
    folder = path.resolve().parent
    secret = _secret(content.pop("secret_file", None), folder, environment)
    provider = content.pop("oidc_secret_file", None)
    known = {each.name for each in fields(Settings)} - {"secret", "oidc_secret"}
    if unknown := sorted(content.keys() - known):
        raise DescriptionError(
            given=f"The settings have no {unknown[0]}.", do=f"Known settings are {', '.join(sorted(known))}."
        )
    if provider is not None:
        content["oidc_secret"] = _secret(provider, folder, environment)
    return _settings(content, folder, secret)


def _settings(content: dict[str, Any], folder: Path, secret: str) -> Settings:
    found = content.pop("datasets", {})
    if not isinstance(found, dict) or any(not isinstance(value, str) for value in found.values()):
        raise DescriptionError(
            wanted="descriptions by name in [datasets]", given=quoted(found), do='Write visits = "visits.sitr.yaml".'
        )
    datasets = {name.casefold(): folder / value for name, value in found.items()}
    state = folder / str(content.pop("state", "sitr-server"))
    hosts = content.pop("hosts", None)
    if hosts is not None:
        content["hosts"] = tuple(hosts) if isinstance(hosts, list) else hosts
    return Settings(state=state, secret=secret, datasets=datasets, folders=_folders(content, folder), **content)


def _folders(content: dict[str, Any], folder: Path) -> tuple[Path, ...]:
    found = content.pop("folders", [])
    if not isinstance(found, list) or any(not isinstance(each, str) or not each for each in found):
        raise DescriptionError(
            wanted="a list of folders", given=quoted(found), do='Write for example folders = ["data"].'
        )
    return tuple((folder / each).resolve() for each in found)


def _secret(file: object, folder: Path, environment: Mapping[str, str]) -> str:
    if file is None:
        return environment.get(SECRET, "")
    try:
        return (folder / str(file)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(given=f"Cannot read the secret in {file}: {problem}.", do="Check the path.") from None
