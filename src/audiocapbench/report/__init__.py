"""Tables, charts and pages made from what the store holds."""
