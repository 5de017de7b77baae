"""What the files say: one module for each language, none of which knows another."""
