"""``semikpca app``: the labeling page, on this computer."""

import webbrowser
from pathlib import Path
from threading import Timer
from typing import Annotated

import typer

from semikpca.app import NO_TOKEN, Folder, Workspace, addresses_for_others, pending_file, serve
from semikpca.cli import _table_options as asked
from semikpca.cli._messages import console, errors, failing_clearly
from semikpca.tables import AUTO, ColumnRoles, read_table
from semikpca.workflow import LabelingOptions

_SOON = 1.0  # seconds: a table that is open by then is on the page when it comes up, of others it shows the steps
_WAIVED = "Without a token, whoever reaches this address sees the table and can change its labels."


def addresses(host: str, url: str) -> list[tuple[str, str]]:
    """Return the addresses to print, with what each is for; the first opens the page on this computer."""
    others = [address for address in addresses_for_others(host, url) if address != url]
    return [("Labeling page", url), *(("From other computers", address) for address in others)]


def app(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Table to label, or a folder whose tables the page lists; without one, the page asks for it or offers "
            "examples."
        ),
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(help="Column with the labels, empty where a row has none; asked for on the page.")
    ] = None,
    id_column: asked.IdColumn = None,
    text_column: asked.TextColumns = None,
    text_encoder: asked.TextEncoderName = AUTO,
    category_column: asked.CategoryColumns = None,
    exclude: asked.Exclude = None,
    keep: asked.Keep = None,
    keep_labels_as_typed: asked.AsTyped = False,
    numbers: asked.AsNumbers = False,
    classes: asked.AsClasses = False,
    labels: asked.LabelsFile = None,
    embeddings: asked.EmbeddingsFile = None,
    delimiter: asked.Delimiter = None,
    encoding: asked.Encoding = None,
    sheet: asked.Sheet = None,
    header_row: asked.HeaderRow = None,
    kernel: asked.Kernel = None,
    n_components_removed: asked.Removed = None,
    host: Annotated[
        str, typer.Option(help="Address to answer on; 0.0.0.0 lets other computers see the page.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to answer on; 0 takes a free one.")] = 8050,
    token: Annotated[
        bool,
        typer.Option("--token/--no-token", help="Whether the page asks for the token that stands in its address."),
    ] = True,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Further name under which this computer is asked for, such as lab-3.local; may be repeated."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")
    ] = True,
    upload_limit: Annotated[int, typer.Option(min=1, help="Size of files that the page takes, in MB.")] = 50,
) -> None:
    """Label rows on a local page: click, and predictions, confidence and accuracy follow at once."""
    with failing_clearly(errors):
        options = LabelingOptions(kernel=kernel, n_components_removed=n_components_removed)
        labels_as = asked.kind_of_labels(numbers=numbers, classes=classes)

        def roles(label: str) -> ColumnRoles:
            given = (text_column, exclude, keep, category_column)
            text, excluded, kept, categories = (tuple(names or ()) for names in given)
            as_typed, encoder = keep_labels_as_typed, text_encoder
            return ColumnRoles(label, id_column, text, excluded, as_typed, encoder, kept, categories, labels_as)

        workspace = Workspace(options, roles, in_background=True)
        kept = "in your state folder"
        if file is not None and not file.suffix and not file.exists():
            raise ValueError(f"There is no file or folder {file}. Give a table, or a folder with tables.")
        if file is not None and file.is_dir():
            unfit = {"--label-column": label_column, "--labels": labels, "--embeddings": embeddings}
            if named := [option for option, value in unfit.items() if value is not None]:
                raise ValueError(f"{named[0]} belongs to a file, and {file} is a folder: name the file instead.")
            workspace.folder = Folder(file)
            kept = "beside its file"
        elif file is not None:
            with console.status("Reading the file") as status:
                table = read_table(
                    file,
                    delimiter=delimiter,
                    encoding=encoding,
                    sheet=sheet,
                    header_row=header_row,
                    labels=labels,
                    embeddings=embeddings,
                    id_column=id_column,
                )
                pending = pending_file(file, table)
                if label_column is None:
                    workspace.ask_for_column(pending.looked_at())
                else:
                    status.update("Checking the columns")
                    workspace.check(pending, label_column)  # what cannot be opened is refused here, not on the page
                    workspace.begin_open(pending, label_column)
                    workspace.wait(_SOON)
            kept = f"beside {file.name}"
        for option, given in (("--label-column", label_column), ("--labels", labels), ("--embeddings", embeddings)):
            if file is None and given is not None:
                raise ValueError(f"{option} belongs to a file: give the file as well.")
        page = serve(
            workspace,
            host=host,
            port=port,
            limit_mb=upload_limit,
            token=None if token else NO_TOKEN,
            allowed_hosts=tuple(allow_host or ()),
        )
        for kind, address in addresses(host, page.url):
            console.print(f"{kind}: {address}", soft_wrap=True, highlight=False, markup=False)
        if not token:
            console.print(_WAIVED, soft_wrap=True)
        console.print(f"Each label is saved {kept} as soon as it is given. Ctrl-C stops the page.", soft_wrap=True)
        if browser:
            Timer(0.3, webbrowser.open, [page.url]).start()
        try:
            page.run()
        except KeyboardInterrupt:
            console.print("Stopped. All labels are saved.")
