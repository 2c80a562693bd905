# SPDX-License-Identifier: Apache-2.0
"""TPUsight in TensorBoard: the page, and the reports that it draws."""
