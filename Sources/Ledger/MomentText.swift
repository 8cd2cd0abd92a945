extension Ledger {
    /// An SQL expression for a moment as text: ISO 8601, UTC, whole seconds.
    package static func moment(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
    }
}
