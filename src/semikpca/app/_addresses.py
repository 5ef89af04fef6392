"""The names and addresses of this computer, as others may write them."""

import ipaddress
import re
import socket
from urllib.parse import urlsplit, urlunsplit

# An address of no computer (RFC 5737, RFC 3849): asking for the way to it sends nothing, and tells our own address.
_NOWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
_NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(\.(?!-)[a-z0-9_-]{1,63})*", re.ASCII)


def as_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return a bare address as such, and None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def is_loopback(host: str) -> bool:
    """Return whether an address can only be reached from this computer."""
    address = as_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def host_name(name: str) -> str:
    """Return a name of a computer as it is compared; ValueError for an address with more in it than that.

    Examples
    --------
    >>> host_name("Lab-3.Example.ORG.")
    'lab-3.example.org'
    """
    plain = name.strip().lower().rstrip(".")
    if not (_NAME.fullmatch(plain) and len(plain) <= 253) and as_address(plain) is None:
        raise ValueError(
            f"{name!r} is no name of a computer. Give the name alone, such as lab-3.local or lab-3.example.org, "
            "without http:// and without a port."
        )
    return plain


def own_names(host: str) -> set[str]:
    """Return the names under which a page is asked for: those of the computer only where other computers see it."""
    names = {"localhost", host.lower()}
    if is_loopback(host):
        return names
    short = socket.gethostname().lower()
    first = short.split(".")[0]
    # The name in the domain may have to be looked up; .local is what computers call each other without a domain.
    return names | {short, first, f"{first}.local", socket.getfqdn().lower()}


def addresses_for_others(host: str, url: str) -> list[str]:
    """Return the address of the page as other computers write it, where it answers them; several where there are.

    ``host`` is what the page answers on, ``url`` what opens it on this computer.
    """
    address = as_address(host)
    if is_loopback(host) or address is None or not address.is_unspecified:
        return [] if is_loopback(host) else [url]
    parts = urlsplit(url)
    found = [*_routes(), *_looked_up()]
    reached = [one for one in dict.fromkeys(found) if address.version == 6 or ":" not in one]
    return [urlunsplit(parts._replace(netloc=f"{in_url(one)}:{parts.port}")) for one in reached]


def on_this_computer(host: str) -> str:
    """Return the address under which this computer itself opens what answers on a host."""
    address = as_address(host)
    if address is None or not address.is_unspecified:
        return host
    return "127.0.0.1" if address.version == 4 else "::1"


def in_url(host: str) -> str:
    """Return a host as it stands in an address."""
    return f"[{host}]" if ":" in host else host


def _routes() -> list[str]:
    """Return the addresses with which this computer would speak to one far away: no message is sent."""
    found = []
    for family, nowhere in _NOWHERE.items():
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((nowhere, 9))
                found.append(str(probe.getsockname()[0]))
        except OSError:
            continue  # no way out by this protocol
    return [one for one in found if _is_for_others(one)]


def _looked_up() -> list[str]:
    """Return the addresses that the name of this computer stands for."""
    try:
        entries = socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return [one for one in (str(entry[4][0]) for entry in entries) if _is_for_others(one)]


def _is_for_others(text: str) -> bool:
    # An IPv6 address that holds on one wire only needs the name of the reader's own wire beside it: of no use in print.
    address = as_address(text)
    return address is not None and not (address.is_loopback or address.is_unspecified or address.is_link_local)
