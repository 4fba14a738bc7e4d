"""The protocol: fill, cool, settle, measure, drain, judge, repeat."""
