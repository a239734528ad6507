"""Colours, type and spacing of the page: one palette that colour-blind people can tell apart."""

from __future__ import annotations

import gradio as gr
from gradio.themes import Color

from ..places import ASSETS

STYLES = [ASSETS / "style.css", ASSETS / "viewer.css", ASSETS / "results.css"]

BLUE = Color("#eff7fc", "#dceef8", "#b7dcf0", "#7fc1e3", "#3d9fd0", "#0072b2", "#00639b", "#005282",
             "#004269", "#003352", "#00243b", name="blue")  # fmt: skip
SLATE = gr.themes.colors.slate


def build() -> gr.themes.Base:
    """Build the theme: system fonts, so nothing is fetched; contrast in light and dark mode."""
    theme = gr.themes.Base(
        primary_hue=BLUE,
        secondary_hue=BLUE,
        neutral_hue=SLATE,
        radius_size=gr.themes.sizes.radius_md,
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "monospace"],
    )
    return theme.set(
        body_background_fill="#f6f8fa",
        body_background_fill_dark="#0d131c",
        background_fill_primary_dark="#141c27",
        block_background_fill_dark="#141c27",
        border_color_primary_dark="#263243",
        block_label_background_fill="transparent",
        block_label_border_width="0px",
        block_label_text_color="#475569",
        block_title_text_color="#475569",
        block_title_text_weight="600",
        block_title_text_size="0.8125rem",
        block_info_text_size="0.75rem",
        body_text_color_subdued="#526072",
        body_text_color_subdued_dark="#a3b1c4",
        input_border_width="1px",
        input_border_color="#d5dde6",
        input_padding="7px 10px",
        input_background_fill="#ffffff",
        input_background_fill_dark="#0f1620",
        input_border_color_dark="#2c3a4d",
        button_primary_background_fill_dark="#0072b2",
        button_primary_background_fill_hover_dark="#0a78b8",
        button_secondary_background_fill="#ffffff",
        button_secondary_background_fill_hover="#f1f5f9",
        button_secondary_background_fill_dark="#1b2634",
        button_secondary_background_fill_hover_dark="#223043",
        button_secondary_border_color="#d5dde6",
        button_secondary_border_color_dark="#2c3a4d",
        slider_color_dark="#3d9fd0",
    )
