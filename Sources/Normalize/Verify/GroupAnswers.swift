import AppStoreModel
import LedgerSchema
import Postgres

/// Groups and seats have no signed records, so Apple's answer is accepted as it is.
extension VerifiedPage {
    /// Adds a group of a customer, unless it is ``AppStoreModel/GroupPlaceholder``.
    ///
    /// Apple's answer has no ID of the customer; the ledger fills `app_transaction_id` when it stores the row.
    mutating func add(_ group: CustomerGroupItem, ofListed listedID: String) {
        guard group.groupId != GroupPlaceholder.group else { return }
        add(
            Answer(
                .customerGroup,
                row: [
                    .text(group.groupId), .text(listedID), .text(listedID), group.groupType.map(Cell.text) ?? .null,
                    .textArray(group.roles.map(\.productId)), .textArray(group.roles.map(\.role)),
                ]
            )
        )
    }

    /// Adds a member of a group, unless it is ``AppStoreModel/GroupPlaceholder``.
    mutating func add(member appTransactionId: String, of group: String) {
        guard appTransactionId != GroupPlaceholder.member else { return }
        add(Answer(.groupMember, row: [.text(group), .text(appTransactionId)]))
    }

    /// Adds the seats of a subscription and the claims that have one.
    mutating func add(_ seats: SeatInfoItem, of originalTransactionId: String) {
        add(
            Answer(
                .seats,
                row: [
                    .text(originalTransactionId), .integer(seats.totalSeatCount), .integer(seats.availableSeatCount),
                ],
                children: [
                    ChildRows(
                        table: Tables.seatClaims,
                        rows: seats.assignedSeatClaimIds.map { [.text($0), .text(originalTransactionId)] }
                    )
                ]
            )
        )
    }
}
