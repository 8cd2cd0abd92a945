/// What all runs came to.
struct VerifyFigures {
    private var lone: [Double] = []
    private var loneOnTheWall: [Double] = []
    private var together: [VerifyStages.Rate] = []
    private var openSSL: [OpenSSLSpeed] = []
    private var ratios: [Double] = []
    private var parts: [VerifyStages.Parts] = []

    mutating func add(
        lone rate: VerifyStages.Rate,
        together: VerifyStages.Rate?,
        openSSL: OpenSSLSpeed?,
        parts: VerifyStages.Parts
    ) {
        lone.append(rate.perCPUSecond)
        loneOnTheWall.append(rate.perSecond)
        if let together { self.together.append(together) }
        if let openSSL {
            self.openSSL.append(openSSL)
            ratios.append(rate.perCPUSecond / openSSL.perCPUSecond)
        }
        self.parts.append(parts)
    }

    func figures(threads: Int) -> [Figure] {
        var figures = [Figure("verify and decode, one core", lone, "transactions/s")]
        if !together.isEmpty {
            figures += [
                Figure("verify and decode, \(threads) threads", together.map(\.perSecond), "transactions/s"),
                Figure(
                    "verify and decode, \(threads) threads to one",
                    zip(together, loneOnTheWall).map { $0.perSecond / $1 },
                    "times"
                ),
                Figure(
                    "verify and decode, \(threads) threads to one, a processor second each",
                    zip(together, lone).map { $0.perCPUSecond * Double(threads) / $1 },
                    "times"
                ),
            ]
        }
        if !openSSL.isEmpty {
            figures += [
                Figure("openssl speed ecdsap256, verify", openSSL.map(\.perCPUSecond), "verifications/s"),
                Figure("verify and decode to openssl speed", ratios, "of it"),
            ]
        }
        let onTheWall = openSSL.compactMap(\.onTheWall)
        if !onTheWall.isEmpty {
            let name = "openssl speed -multi \(threads) ecdsap256"
            figures += [
                Figure("\(name), verify", onTheWall.map(\.together), "verifications/s"),
                Figure("\(name) to one process", onTheWall.map { $0.together / $0.one }, "times"),
            ]
        }
        let whole = lone.map { 1e6 / $0 }
        figures += [
            Figure("one transaction", whole, "us"),
            Figure("of it, signature and hash", parts.map(\.signature), "us"),
            Figure("of it, base64url of the payload", parts.map(\.base64), "us"),
            Figure("of it, strict JSON", parts.map(\.json), "us"),
            Figure(
                "of it, header, chain, dates, payload hash",
                parts.map { $0.verification - $0.signature - $0.base64 - $0.json },
                "us"
            ),
            Figure("of it, rows", zip(whole, parts).map { $0 - $1.verification }, "us"),
            Figure("beside it, the page it came in", parts.map(\.page), "us"),
        ]
        return figures
    }
}
