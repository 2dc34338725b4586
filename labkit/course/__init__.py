"""The course as values: notebooks read as steps, brought to their beginning, played, recorded and compared."""
