"""What two or more compressors use."""
