# Nothing public: its modules are imported by their own names.
