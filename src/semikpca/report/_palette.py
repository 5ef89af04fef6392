"""Colors of classes on the pages of a labeled table."""

# Ten colors for a white page and the same hues for a dark one. They were searched for: any two on a page are at least
# 0.065 apart in OKLab, for readers with all cones and for those who lack one kind (after Machado et al. 2009), where
# Matplotlib's ten come to 0.007; and each has a contrast of 2 or more with its page.
ON_LIGHT = (
    "#3c6c9c",
    "#f09c00",
    "#00a890",
    "#a83054",
    "#b460fc",
    "#603000",
    "#f03c00",
    "#a8a8e4",
    "#3c3084",
    "#7800d8",
)
ON_DARK = (
    "#5e93c4",
    "#f2cb2e",
    "#8fe6d8",
    "#f0466e",
    "#9a48f0",
    "#ad5a1e",
    "#fa9a72",
    "#c3b4fb",
    "#5468b8",
    "#dd5cff",
)
# Of all classes beyond those that have a color.
REST_ON_LIGHT, REST_ON_DARK = "#8d9893", "#74817b"
# From an unsure prediction to a sure one; amber and blue stay apart for everybody.
UNSURE_TO_SURE_ON_LIGHT = ("#d98e00", "#a9aeab", "#1f4e8c")
UNSURE_TO_SURE_ON_DARK = ("#ffb020", "#7d8884", "#62b0ff")
# Plotly's names. A shape besides the color, for those who see neither hue nor shade.
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down")
