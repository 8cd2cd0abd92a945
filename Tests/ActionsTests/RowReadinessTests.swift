import Testing

@testable import Actions

/// When a row of retention messages is sent, waits, or ends unsent.
struct RowReadinessTests {
    private func row(
        _ state: RowState,
        isAccepted: Bool = false,
        hasEnded: Bool = false,
        isLeft: Bool = false
    ) -> RowReadiness.Prerequisite {
        .init(
            subject: "image/1",
            state: state,
            isAccepted: isAccepted,
            reason: "too blue",
            hasEnded: hasEnded,
            isLeft: isLeft
        )
    }

    @Test func `a message waits until its image is uploaded, a default until the image is approved`() {
        let uploaded = [row(.confirming, isAccepted: true)]
        #expect(RowReadiness(after: uploaded, needsApproval: false) == .ready)
        #expect(RowReadiness(after: uploaded, needsApproval: true) == .waits("waits for image/1", inReview: true))
        #expect(
            RowReadiness(after: [row(.sending)], needsApproval: false) == .waits("waits for image/1", inReview: false)
        )
        #expect(RowReadiness(after: [row(.succeeded, hasEnded: true)], needsApproval: true) == .ready)
        #expect(RowReadiness(after: [], needsApproval: true) == .ready)
    }

    @Test(arguments: [RowState.rejected, .cancelled, .notApplied])
    func `a row ends with the reason when something that it needs has failed`(state: RowState) {
        let rows = [row(.confirming), row(state, hasEnded: true)]
        #expect(
            RowReadiness(after: rows, needsApproval: true) == .fails("image/1 is \(state.rawValue): too blue")
        )
    }

    @Test func `a row is left to the next run behind an outcome that only the next run finds out`() {
        let unknown = [row(.unknown, isLeft: true)]
        #expect(
            RowReadiness(after: unknown, needsApproval: true)
                == .isLeft("waits for image/1, whose outcome is not known")
        )
    }

    @Test func `what no row of the batch uploads counts as Apple's list says`() {
        #expect(RowReadiness(of: "message/1", state: "APPROVED", needsApproval: true) == .ready)
        #expect(RowReadiness(of: "image/1", state: "PENDING", needsApproval: false) == .ready)
        #expect(
            RowReadiness(of: "image/1", state: "PENDING", needsApproval: true)
                == .waits("waits for image/1, which is PENDING", inReview: true)
        )
        for state in [nil, "REJECTED"] {
            guard case .fails = RowReadiness(of: "image/1", state: state, needsApproval: false) else {
                Issue.record("\(state ?? "missing") does not fail")
                continue
            }
        }
    }
}
