# Filled by the stage's oracle test.
