import Testing

@testable import Actions
@testable import JobFiles

/// `stopAfter`.
struct RejectionWatchTests {
    private func watch(
        consecutive: Int? = nil,
        share: Double? = nil,
        rejected: Int = 0,
        ended: Int = 0,
        inARow: Int = 0
    ) -> RejectionWatch {
        RejectionWatch(
            rule: ActionJob.StopRule(consecutiveRejections: consecutive, rejectedShare: share),
            rejected: rejected,
            ended: ended,
            consecutive: inARow
        )
    }

    @Test func `rejections in a row stop the run, and a success between them does not count`() {
        var watch = watch(consecutive: 3)
        let outcomes = [true, true, false, true, true, true].map { watch.note(isRejected: $0) }
        #expect(outcomes.dropLast().allSatisfy { $0 == nil })
        #expect(outcomes.last == "Apple rejected 3 rows in a row (stopAfter.consecutiveRejections)")
    }

    @Test func `rejections in a row count over batches that follow from the same approval`() {
        var watch = watch(consecutive: 3, inARow: 2)
        #expect(watch.note(isRejected: true) == "Apple rejected 3 rows in a row (stopAfter.consecutiveRejections)")
    }

    @Test func `a share stops the run when enough rows have an outcome, including rows of earlier processes`() {
        var enough = watch(share: 0.2, rejected: 3, ended: 18)
        #expect(enough.note(isRejected: true) == nil)  // 4 of 19
        #expect(
            enough.note(isRejected: true)
                == "Apple rejected 5 of 20 rows, more than stopAfter.rejectedShare (0.2)"
        )
        var exactly = watch(share: 0.2, rejected: 3, ended: 19)
        #expect(exactly.note(isRejected: true) == nil)  // 4 of 20 is not more than a fifth
    }

    @Test func `without stopAfter nothing stops the run`() {
        var watch = watch()
        for _ in 0..<1_000 { #expect(watch.note(isRejected: true) == nil) }
    }
}
