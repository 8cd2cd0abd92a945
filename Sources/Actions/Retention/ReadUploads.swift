import ActionKinds
import AppStoreModel
import LedgerSchema
import Postgres
import StrictJSON

extension ActionParameters {
    /// The values of the last upload of each subject that the ledger has recorded; Apple has or had it.
    static func uploads(
        of subjects: [String],
        app: AppID,
        on connection: borrowing PostgresConnection
    ) throws -> [String: ActionParameters] {
        let found = try connection.run(
            .retentionUploads,
            [
                "app": .integer(app.rawValue), "action": .text(PublishRetentionMessages.name.rawValue),
                "subjects": .textArray(subjects),
            ]
        )
        var uploads: [String: ActionParameters] = [:]
        for row in found {
            uploads[try row.text("subject")] = ActionParameters(
                try StrictJSON.parseObject(try row.utf8("parameters")),
                columns: PublishRetentionMessages.columns
            )
        }
        return uploads
    }
}
