# SPDX-License-Identifier: MIT
"""TPUsight in TensorBoard: the page, and the reports that it draws."""
