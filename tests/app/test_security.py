"""Tokens, cookies, the names and addresses of the computer, and the pages that refuse."""

import os
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("dash", reason="the page comes with the extra `app`")

from typer.testing import CliRunner

from semikpca.app import NO_TOKEN, Workspace, addresses_for_others, make_app, serve
from semikpca.app._addresses import host_name, own_names
from semikpca.app._security import COOKIE
from semikpca.app._token import kept_token
from semikpca.cli._app import app as command_line
from semikpca.cli._app_command import addresses

TOKEN = "a token of the test"
AS_A_BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture(autouse=True)
def state_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SEMIKPCA_STATE_FOLDER", str(tmp_path / "state"))
    return tmp_path / "state"


def client_of(**options):
    return make_app(Workspace(), **options).server.test_client()


def url_of(**options):
    server = serve(Workspace(), port=0, **options)
    server.server.server_close()
    return server.url


def token_of(url):
    return parse_qs(urlsplit(url).query)["token"][0]


# -- the token ---------------------------------------------------------------------------------------------------


def test_on_this_computer_the_token_is_that_of_the_last_start():
    first = token_of(url_of())
    assert len(first) >= 40
    assert token_of(url_of()) == first


def test_for_other_computers_each_start_has_a_new_token_and_keeps_none(state_folder):
    first, second = token_of(url_of(host="0.0.0.0")), token_of(url_of(host="0.0.0.0"))
    assert first != second
    assert not state_folder.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_can_be_chosen_or_waived(host, state_folder):
    assert token_of(url_of(host=host, token="chosen")) == "chosen"
    assert "token" not in url_of(host=host, token=NO_TOKEN)
    assert not state_folder.exists()


def test_nobody_else_can_read_the_token_that_is_kept(state_folder):
    token = kept_token(state_folder / "token")
    assert (state_folder / "token").read_text(encoding="ascii") == token
    assert stat.S_IMODE((state_folder / "token").stat().st_mode) == 0o600
    assert stat.S_IMODE(state_folder.stat().st_mode) == 0o700
    assert os.listdir(state_folder) == ["token"]


def readable_by_all(path):
    path.chmod(0o644)


def cut_short(path):
    path.write_text("abc", encoding="ascii")


def a_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("spoil", [readable_by_all, cut_short, a_link])
def test_a_token_that_cannot_be_trusted_is_replaced(state_folder, spoil):
    path = state_folder / "token"
    before = kept_token(path)
    spoil(path)
    after = kept_token(path)
    assert after != before
    assert kept_token(path) == after
    assert stat.S_IMODE(path.lstat().st_mode) == 0o600


def test_programs_that_start_at_once_have_one_token(state_folder):
    with ThreadPoolExecutor(8) as threads:
        found = set(threads.map(kept_token, [state_folder / "token"] * 40))
    assert found == {kept_token(state_folder / "token")}


def test_where_nothing_can_be_written_there_is_a_token_all_the_same(tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="ascii")
    assert len(kept_token(tmp_path / "file" / "token")) >= 40


def test_pages_on_two_ports_do_not_log_each_other_out():
    first, second = (client_of(token=token) for token in ("one", "two"))
    hosts = {"Host": "127.0.0.1:8050"}, {"Host": "127.0.0.1:8051"}
    cookies = []
    for client, token, host in zip((first, second), ("one", "two"), hosts, strict=True):
        cookies.append(client.get("/", query_string={"token": token}, headers=host).headers["Set-Cookie"].split(";")[0])
    assert [cookie.split("=")[0] for cookie in cookies] == [f"{COOKIE}_8050", f"{COOKIE}_8051"]
    both = "; ".join(cookies)  # what a browser sends to either
    for token, host in zip(("one", "two"), hosts, strict=True):
        client = make_app(Workspace(), token=token).server.test_client(use_cookies=False)
        assert client.get("/state", headers={**host, "Cookie": both}).status_code == 200
        assert client.get("/state", headers=host).status_code == 403


def test_tokens_are_compared_in_a_time_that_tells_nothing(monkeypatch):
    compared = []
    monkeypatch.setattr("semikpca.app._security.hmac.compare_digest", lambda *pair: compared.append(pair) or False)
    client = client_of(token=TOKEN)
    assert client.get("/state", query_string={"token": TOKEN}).status_code == 403
    assert compared == [(TOKEN.encode(), TOKEN.encode()), (b"", TOKEN.encode())]


def test_a_token_is_taken_from_addresses_that_are_opened_and_from_nothing_else():
    client = client_of(token=TOKEN)
    assert client.post("/upload", query_string={"token": TOKEN, "name": "a.csv"}, data=b"a").status_code == 403


# -- names and addresses -----------------------------------------------------------------------------------------


@pytest.fixture
def named(monkeypatch):
    """A computer with a name in a domain."""
    monkeypatch.setattr(socket, "gethostname", lambda: "Lab-3")
    monkeypatch.setattr(socket, "getfqdn", lambda: "lab-3.physics.example.org")


@pytest.mark.parametrize("host", ["lab-3", "LAB-3.local", "lab-3.physics.example.org", "lab-3.local.:8050", "10.0.0.7"])
def test_a_page_for_others_answers_to_the_names_of_its_computer(named, host):
    client = client_of(host="0.0.0.0", token=None)
    assert client.get("/state", headers={"Host": host}).status_code == 200
    assert client_of().get("/state", headers={"Host": host}).status_code == 403  # on loopback nobody asks by it


@pytest.mark.parametrize("options", [{}, {"host": "0.0.0.0"}, {"allowed_hosts": ("label.example.org",)}])
@pytest.mark.parametrize(
    "name", ["evil.example", "lab-3.local.evil.example", "evil.local", "example.org", "a.label.example.org", "", "[::"]
)
def test_a_foreign_name_that_was_made_to_point_here_is_refused(named, name, options):
    client = client_of(token=TOKEN, **options)
    for path in ("/", f"/?token={TOKEN}", "/state", "/download", "/assets/page.js"):
        answer = client.get(path, headers={"Host": name})
        assert answer.status_code in (400, 403), path
        assert TOKEN not in str(answer.headers) + answer.text


@pytest.mark.parametrize("name", ["label.example.org", "Label.Example.Org.", "lab-3.local"])
def test_further_names_can_be_allowed(name):
    client = client_of(allowed_hosts=(name,))
    assert client.get("/state", headers={"Host": f"{host_name(name)}:8050"}).status_code == 200
    assert client.get("/state", headers={"Host": "other.example.org"}).status_code == 403


@pytest.mark.parametrize("name", ["http://a.example", "a.example:80", "a b", "", "*.example", ".local", "-a"])
def test_what_is_no_name_of_a_computer_is_not_allowed(name):
    with pytest.raises(ValueError, match=r"no name of a computer.*lab-3\.local"):
        client_of(allowed_hosts=(name,))


def test_on_loopback_the_computer_has_no_other_names(named):
    assert own_names("127.0.0.1") == {"localhost", "127.0.0.1"}


def test_addresses_that_are_printed_can_be_opened_by_others(monkeypatch):
    entries = [(0, 0, 0, "", (one, 0)) for one in ("127.0.1.1", "10.0.0.7", "10.0.0.7", "fe80::1", "2001:db8::7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *about, **more: entries)
    monkeypatch.setattr("semikpca.app._addresses._routes", lambda: ["10.0.0.9"])
    url = "http://127.0.0.1:8050/?token=abc"
    four = ["http://10.0.0.9:8050/?token=abc", "http://10.0.0.7:8050/?token=abc"]
    assert addresses_for_others("0.0.0.0", url) == four
    assert addresses_for_others("::", url) == [*four, "http://[2001:db8::7]:8050/?token=abc"]
    assert addresses("0.0.0.0", url) == [("Labeling page", url), *(("From other computers", one) for one in four)]
    assert addresses("127.0.0.1", url) == [("Labeling page", url)]
    own = "http://10.0.0.7:8050/"
    assert addresses("10.0.0.7", own) == [("Labeling page", own)]


def test_the_own_browser_opens_an_address_that_exists():
    assert url_of(host="0.0.0.0").startswith("http://127.0.0.1:")
    assert url_of(host="127.0.0.1").startswith("http://127.0.0.1:")


def test_the_address_of_this_computer_answers_another_socket():
    """Where this computer has a way out, the address that is found for it is one of its own: it can be bound to."""
    for url in addresses_for_others("0.0.0.0", "http://127.0.0.1:1/"):
        with socket.socket() as probe:
            probe.bind((urlsplit(url).hostname, 0))


# -- the command line --------------------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """What the command line asks of the server, without a server."""
    seen = {}

    def fake(workspace, **options):
        seen.update(options)
        return type("Page", (), {"url": "http://127.0.0.1:1/?token=x", "run": lambda self: None})()

    monkeypatch.setattr("semikpca.cli._app_command.serve", fake)
    return seen


def test_the_command_line_waives_the_token_and_allows_names(asked):
    runner = CliRunner()
    plain = runner.invoke(command_line, ["app", "--no-browser"])
    assert (asked["token"], asked["allowed_hosts"]) == (None, ())
    assert "Without a token" not in plain.output
    result = runner.invoke(
        command_line, ["app", "--no-browser", "--no-token", "--allow-host", "a.local", "--allow-host", "b.example.org"]
    )
    assert result.exit_code == 0, result.output
    assert (asked["token"], asked["allowed_hosts"]) == (NO_TOKEN, ("a.local", "b.example.org"))
    assert "Without a token" in result.output


def test_a_name_that_is_none_ends_the_command_with_a_line():
    command = [sys.executable, "-c", "from semikpca.cli import main; main()", "app", "--no-browser", "--port", "0"]
    done = subprocess.run([*command, "--allow-host", "http://x"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "'http://x' is no name of a computer" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


# -- the content policy ------------------------------------------------------------------------------------------


def scripts_of(client):
    policy = client.get("/state").headers["Content-Security-Policy"]
    return policy.split("script-src")[1].split(";")[0]


def test_texts_may_become_programs_only_after_the_page_asked_for_it():
    client = client_of()
    assert "unsafe" not in scripts_of(client)
    assert client.post("/policy", headers={"Origin": "http://evil.example"}).status_code == 403
    assert "unsafe" not in scripts_of(client)
    assert client.post("/policy").status_code == 204
    assert "'unsafe-eval'" in scripts_of(client)
    assert "unsafe" not in scripts_of(client_of())


# -- pages that refuse -------------------------------------------------------------------------------------------


def refuse_by_token():
    return client_of(token=TOKEN).get("/", headers=AS_A_BROWSER)


def refuse_by_name():
    return client_of().get("/", headers={**AS_A_BROWSER, "Host": "evil.example"})


def refuse_a_download():
    return client_of().get("/download", headers=AS_A_BROWSER)


def refuse_a_method():
    return client_of().put("/state", headers=AS_A_BROWSER)


def refuse_a_file():
    return client_of().get("/_dash-component-suites/dash/none.js", headers=AS_A_BROWSER)


@pytest.mark.parametrize(
    ("asking", "status", "words"),
    [
        (refuse_by_token, 403, "Open the address that semikpca app printed"),
        (refuse_by_name, 403, "start semikpca app with --allow-host evil.example"),
        (refuse_a_download, 404, "No table is open"),
        (refuse_a_method, 405, "not in this way"),
        (refuse_a_file, 404, "There is no such file"),
    ],
)
def test_people_get_a_page_that_says_what_to_do(asking, status, words):
    answer = asking()
    assert answer.status_code == status
    assert answer.mimetype == "text/html"
    assert words in answer.text
    assert '<html lang="en">' in answer.text
    assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


def test_programs_get_the_words_alone():
    answer = client_of(token=TOKEN).get("/state", headers={"Accept": "*/*"})
    assert answer.mimetype == "text/plain"
    assert answer.text.startswith("This page needs its token.")


def test_what_was_asked_for_stands_in_the_page_as_text():
    answer = client_of().get("/", headers={**AS_A_BROWSER, "Host": "<script>alert(1)</script>"})
    assert answer.status_code in (400, 403)
    assert "<script>" not in answer.text


def test_a_fault_of_the_program_is_a_page_without_its_secrets(monkeypatch):
    app = make_app(Workspace())
    app.server.config["PROPAGATE_EXCEPTIONS"] = False
    monkeypatch.setattr(Workspace, "state", lambda self: 1 // 0)
    answer = app.server.test_client().get("/state", headers=AS_A_BROWSER)
    assert answer.status_code == 500
    assert "A fault of the program" in answer.text
    assert "The labels given so far are saved" in answer.text
    assert "ZeroDivision" not in answer.text
