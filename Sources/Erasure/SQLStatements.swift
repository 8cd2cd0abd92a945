import Postgres

/// The statements in `Sources/Erasure/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let clearInputCells = SQLStatement(file: PackageResources.clear_input_cells_sql)
    static let clearActionRows = SQLStatement(file: PackageResources.clear_action_rows_sql)
    static let keepFirstReceived = SQLStatement(file: PackageResources.keep_first_received_sql)
    static let readUnreadTexts = SQLStatement(file: PackageResources.read_unread_texts_sql)
    static let textsOfNotifications = SQLStatement(file: PackageResources.texts_of_notifications_sql)
    static let textsOfRejects = SQLStatement(file: PackageResources.texts_of_rejects_sql)
}
