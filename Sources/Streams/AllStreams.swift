package import AppStoreModel

/// The registry of streams.
///
/// The job file reader, planner, limiter, crawler, ledger and commands use it and do not name streams.
package enum AllStreams {
    /// In the order in which documentation and commands list the streams.
    package static let types: [any AppStoreStream.Type] = [
        TransactionHistory.self,
        RefundHistory.self,
        NotificationHistory.self,
        TransactionInfo.self,
        SubscriptionStatuses.self,
        AppTransaction.self,
        OrderLookup.self,
        CustomerGroups.self,
        GroupMembers.self,
        Seats.self,
    ]

    package static let names = types.map { $0.name }

    /// `nil` for a name that is unknown to this version of StoreLedger.
    package static func type(of name: StreamName) -> (any AppStoreStream.Type)? {
        types.first { $0.name == name }
    }

    /// The streams whose transactions are refunds.
    package static let refundStreams = types.filter { $0.returnsRefunds }.map { $0.name }

    /// The streams that need no transaction IDs: those that never need any, then the others with their condition.
    package static let withoutTransactionIDs: [String] = {
        let conditions = types.compactMap { type in type.needsNoTransactionIDs.map { (type.name.rawValue, $0) } }
        return conditions.filter { $1.isEmpty }.map { $0.0 }
            + conditions.filter { !$1.isEmpty }.map { "\($0) \($1)" }
    }()

    /// The stream that `changedSince` follows.
    package static let changedCustomersStream: any AppStoreStream.Type = {
        guard let type = types.first(where: { $0.namesChangedCustomers }) else {
            preconditionFailure("no stream names changed customers")
        }
        return type
    }()

    /// A stream's limit in requests per second; 0 for a name that is not in the registry.
    package static func requestsPerSecond(of name: StreamName, in environment: AppStoreEnvironment) -> Double {
        type(of: name)?.requestsPerSecond(in: environment) ?? 0
    }
}
