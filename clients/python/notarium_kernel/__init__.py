"""The part of Notarium that runs in kernels: functions for assistants and people, progress, SQL cells, tables of data frames.

Runtime agents embed it, so that kernels have it without an installation. Cells use it by the names of the package `notarium`.
"""
