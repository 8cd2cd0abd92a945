import Basics
import Testing

struct ExitStatusTests {
    @Test(
        arguments: [
            ([], .complete), ([.complete, .complete], .complete),
            ([.complete, .completeWithLosses], .completeWithLosses),
            ([.completeWithLosses, .workLeft], .workLeft), ([.workLeft, .databaseUnavailable], .databaseUnavailable),
            ([.configuration, .refused, .complete, .missingInput], .configuration),
        ] as [([Basics.ExitStatus], Basics.ExitStatus)]
    )
    func `the worst code of several needs most of a person`(codes: [Basics.ExitStatus], worst: Basics.ExitStatus) {
        #expect(Basics.ExitStatus.worst(of: codes) == worst)
        #expect(Basics.ExitStatus.worst(of: codes.reversed()) == worst)
    }
}
