"""Pictures of a motion: plots, animations, the report page. Import the module you need; each loads its tools late."""
