"""The COCO caption metrics: without Java where they can be, by the original jars where not."""
