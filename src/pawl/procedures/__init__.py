"""What a procedure is: prompts, tools and workflows; rendering, call checking, walking; changes between versions."""
