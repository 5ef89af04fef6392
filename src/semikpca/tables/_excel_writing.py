"""Tables as Excel sheets: where one came from a sheet, a copy of it with new columns beside the old ones."""

import datetime
import io
import re
import warnings
from copy import copy
from pathlib import Path
from typing import Any

import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._excel import MOST_EXCEL_COLUMNS, MOST_EXCEL_ROWS, SheetOrigin
from semikpca.tables._features import as_text, is_missing
from semikpca.tables._formulas import without_formula
from semikpca.tables._table import Table
