import ArgumentParser
import FoundationEssentials
import Glibc
import SignedData
import Signing
import TestSupport

/// From rows of a file to signed rows, compared with what `openssl speed` says of the same machine.
struct SignBenchmarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "How many requests a second are read, checked, signed and written.",
        discussion: """
            Rates are of processor time, as those of openssl speed are, so that other work on the machine does not count.
            """
    )

    @Option(help: "Requests in a run, at least 1000.")
    var work = 20_000

    @Option(help: "Runs that count, 1 to 100, after one that does not.")
    var runs = 5

    @Flag(help: "Prints the figures as a JSON array of {figure, value, unit, spread}.")
    var json = false

    func validate() throws {
        guard work >= 1_000 else { throw ValidationError("--work is \(work); it must be at least 1000.") }
        guard (1...100).contains(runs) else { throw ValidationError("--runs is \(runs); it must be from 1 to 100.") }
    }

    func run() async throws {
        try ReleaseBuild.require()
        let key = RequestKey(
            key: try SigningKey.generate(),
            keyId: "2X9R4HXF34",
            issuerId: "57246542-96fe-1a63-e053-0824d011072a",
            bundleId: "com.example.game"
        )
        let kinds = SignatureKind.allCases
        var rates: [SignatureKind: [Double]] = [:]
        var openSSL: [Double] = []
        try await withTemporaryDirectory { directory in
            for kind in kinds { try Data(content(of: kind).utf8).write(to: URL(filePath: "\(directory)/\(kind)")) }
            for run in 0...runs {
                let reference = await OpenSSLSpeed.measure(threads: 1)
                if run > 0, let reference { openSSL.append(reference.signaturesPerCPUSecond) }
                for kind in kinds {
                    let before = Self.processorTime
                    let signed = try await RequestSigning(kind, key: key, width: 1).sign("\(directory)/\(kind)") { _ in
                    }
                    let rate = Double(signed) / (Self.processorTime - before)
                    if run > 0 { rates[kind, default: []].append(rate) }  // the first is the warm-up
                }
            }
        }
        var figures = kinds.map { Figure("sign \($0.rawValue), one core", rates[$0] ?? [], "signatures/s") }
        if openSSL.count == runs {
            figures.append(Figure("openssl speed ecdsap256, sign", openSSL, "signatures/s"))
            for kind in kinds {
                let ratios = zip(rates[kind] ?? [], openSSL).map { $0 / $1 }
                figures.append(Figure("sign \(kind.rawValue) to openssl speed", ratios, "of it"))
            }
        }
        print(try json ? Figure.json(of: figures) : Figure.text(of: figures))
    }

    /// A file of requests.
    private func content(of kind: SignatureKind) -> String {
        switch kind {
        case .advancedCommerce: String(repeating: Self.request + "\n", count: work)
        case .promotionalOffer:
            "product_id,offer_identifier,transaction_id\n"
                + (0..<work).map { "com.example.game.monthly,win.back,\(2_000_000_000_000_000 + $0)\n" }.joined()
        case .introductoryOfferEligibility:
            "product_id,allow_introductory_offer,transaction_id\n"
                + (0..<work).map { "com.example.game.monthly,true,\(2_000_000_000_000_000 + $0)\n" }.joined()
        case .promotionalOfferSignature:
            "product_id,offer_identifier,application_username\n"
                + (0..<work).map { "com.example.game.monthly,win.back,user-\($0)\n" }.joined()
        }
    }

    /// As long as the longest example of Apple's documentation.
    private static let request = """
        {"operation":"CREATE_SUBSCRIPTION","version":"1","requestInfo":{"requestReferenceId":"74ad2401-488d-4e1a-9c9d-80cdf0efed67"},\
        "currency":"USD","taxCode":"C003-00-1","descriptors":{"displayName":"Streaming Pass","description":"Streaming pass with multiple items"},\
        "period":"P1M","storefront":"USA","items":[{"SKU":"LIVE_SPORTS","displayName":"Live Sports","description":"Streaming for sports events",\
        "price":40000},{"SKU":"SATURDAY_MORNING_CARTOONS","displayName":"Saturday Morning Cartoons","description":"Streaming for animated series",\
        "price":11000,"offer":{"price":2990,"period":"P1M","periodCount":3,"reason":"ACQUISITION"}}]}
        """

    /// Of all threads of the process, in seconds.
    private static var processorTime: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
