import Basics
import Testing

struct ExitStatusTests {
    @Test(
        arguments: [
            ([], .complete), ([.complete, .complete], .complete),
            ([.complete, .completeWithLosses], .completeWithLosses),
            ([.completeWithLosses, .workLeft], .workLeft), ([.workLeft, .databaseUnavailable], .databaseUnavailable),
            ([.configuration, .refused, .complete, .missingInput], .configuration),
            ([.missingInput, .workLeft], .workLeft),
            ([.configuration, .databaseUnavailable, .complete], .databaseUnavailable),
        ] as [([Basics.ExitStatus], Basics.ExitStatus)]
    )
    func `of several codes one that can pass counts before one that needs a person`(
        codes: [Basics.ExitStatus],
        worst: Basics.ExitStatus
    ) {
        #expect(Basics.ExitStatus.worst(of: codes) == worst)
        #expect(Basics.ExitStatus.worst(of: codes.reversed()) == worst)
    }
}
