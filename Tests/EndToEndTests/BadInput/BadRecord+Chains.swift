import AppStoreModel
import TestSupport

@testable import SignedData

extension BadRecord {
    static let chains: [BadRecord] =
        [
            .rejected("J13", "a foreign chain of the same names", "chain") { scene in
                let attacker = try RecordScene.authority(around: scene.now)
                return try scene.signed(chain: attacker.chain, by: attacker.leaf)
            },
            .loaded(
                "J14",
                "another root in x5c[2]",
                row: "EXISTS (SELECT FROM schema_drift WHERE kind = 'transaction' AND path = 'header.x5c[2]')"
            ) { scene in
                let attacker = try RecordScene.authority(around: scene.now)
                return try scene.signed(chain: Array(scene.authority.chain[..<2]) + [attacker.root.der])
            },
            .loaded("J15", "x5c[2] is base64 of garbage") { scene in try scene.signed(entry: 2) { _ in "Z2FyYmFnZQ==" }
            },
            .rejected("J15", "x5c[2] is not base64", "x5c") { scene in try scene.signed(entry: 2) { _ in "garbage!" } },
            .rejected("J15", "x5c[2] is too long", "x5c") { scene in
                try scene.signed(chain: Array(scene.authority.chain[..<2]) + [[UInt8](repeating: 0x30, count: 5_000)])
            },
            .rejected("J18", "leaf and intermediate swapped", "chain") { scene in
                let chain = scene.authority.chain
                return try scene.signed(chain: [chain[1], chain[0], chain[2]])
            },
            .rejected("J19", "the leaf twice", "chain") { scene in
                let chain = scene.authority.chain
                return try scene.signed(chain: [chain[0], chain[0], chain[2]])
            },
            .rejected("J20", "a root of the same name and key identifier", "chain") { scene in
                let twin = try IssuedCertificate.selfSigned(RecordScene.rootShape(around: scene.now))
                let intermediate = try twin.issue(scene.intermediateShape)
                let leaf = try intermediate.issue(scene.leafShape)
                return try scene.signed(chain: [leaf.der, intermediate.der, scene.authority.root.der], by: leaf)
            },
            .rejected("J21", "a leaf without Apple's marker", "leaf_oid") { scene in
                try scene.signed(leaf: { $0.extensions = [] })
            },
            .rejected("J22", "an intermediate without Apple's marker", "int_oid") { scene in
                try scene.signed(intermediate: { $0.extensions = [] })
            },
            .rejected("J22", "an intermediate with 100.6.2.2", "int_oid") { scene in
                try scene.signed(intermediate: { $0.extensions = [.init("1.2.840.113635.100.6.2.2")] })
            },
            .rejected("J23", "the marker in subjectAltName", "leaf_oid") { scene in
                try scene.signed(leaf: { $0.extensions = [.init("2.5.29.17", value: der(0x30, der(0x88, leafMarker)))] }
                )
            },
            .rejected("J23", "the marker as a policy", "leaf_oid") { scene in
                let policies = der(0x30, der(0x30, der(0x06, leafMarker)))
                return try scene.signed(leaf: { $0.extensions = [.init("2.5.29.32", value: policies)] })
            },
            .rejected("J24", "the intermediate as leaf", "leaf_is_ca") { scene in
                let chain = scene.authority.chain
                return try scene.signed(chain: [chain[1], chain[1], chain[2]])
            },
            .rejected("J25", "a leaf that may issue", "chain") { scene in
                try scene.signed(leaf: { $0.isAuthority = true })
            },
            .rejected("J25", "an intermediate that may not", "chain") { scene in
                try scene.signed(intermediate: {
                    $0.isAuthority = false
                    $0.pathLength = nil
                })
            },
            .rejected("J25", "an authority too many", "chain") { scene in
                let extra = try scene.authority.intermediate.issue(scene.intermediateShape)
                let leaf = try extra.issue(scene.leafShape)
                return try scene.signed(chain: [leaf.der, extra.der, scene.authority.root.der], by: leaf)
            },
            .rejected("J26", "an unknown critical extension", "chain") { scene in
                try scene.signed(leaf: { $0.extensions.append(.init("1.2.840.113635.100.6.99.1", isCritical: true)) })
            },
            .loaded("J27", "a leaf that has expired since") { scene in
                let (leaf, date) = try lately(scene)
                return try scene.signed(chain: scene.chain(leaf), by: leaf, date: date)
            },
            .rejected("J28", "signed before the leaf was valid", "validity") { scene in
                let (leaf, date) = try lately(scene)
                return try scene.signed(chain: scene.chain(leaf), by: leaf, date: date - .seconds(2 * 86_400))
            },
            .rejected("J28", "signed after the leaf had expired", "validity") { scene in
                let (leaf, date) = try lately(scene)
                return try scene.signed(chain: scene.chain(leaf), by: leaf, date: date + .seconds(2 * 86_400))
            },
            .rejected("J29", "an intermediate that had expired", "validity") { scene in
                let shape = CertificateShape.intermediate(
                    from: scene.now - RecordScene.year,
                    to: scene.now - .seconds(86_400)
                )
                let intermediate = try scene.authority.root.issue(shape)
                let leaf = try intermediate.issue(scene.leafShape)
                return try scene.signed(chain: [leaf.der, intermediate.der, scene.authority.root.der], by: leaf)
            },
        ]
        + KeyKind.allCases.filter { $0 != .p256 }.map { kind in
            .rejected("J45", kind.rawValue, "leaf_key") { scene in try scene.signed(leaf: { $0.key = kind }) }
        }
        + [
            .rejected("J46", "CVE-2022-0778 in the leaf", "leaf_key") { scene in
                try scene.signed(chain: [loopingCertificate] + scene.authority.chain[1...])
            },
            .rejected("J46", "CVE-2022-0778 in the intermediate", "chain") { scene in
                try scene.signed(chain: [scene.authority.leaf.der, loopingCertificate, scene.authority.root.der])
            },
            .rejected("J55", "5 KiB of junk", "x5c") { scene in
                try scene.signed(chain: [[UInt8](repeating: 0x30, count: 5_120)] + scene.authority.chain[1...])
            },
            .rejected("J55", "a length of 2^63", "x5c") { scene in
                let bytes: [UInt8] = [0x30, 0x88, 0x80, 0, 0, 0, 0, 0, 0, 0, 0x30]
                return try scene.signed(chain: [bytes] + scene.authority.chain[1...])
            },
            .rejected("J55", "an indefinite length", "x5c") { scene in
                try scene.signed(chain: [[0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0]] + scene.authority.chain[1...])
            },
            .rejected(
                "J60",
                "another intermediate for a leaf whose chain is known",
                "chain",
                after: { try $0.signed() }
            ) {
                let attacker = try RecordScene.authority(around: $0.now)
                let own = $0.authority
                return try $0.signed(chain: [own.leaf.der, attacker.intermediate.der, own.root.der])
            },
            BadRecord(
                id: "J61",
                note: "a known chain, outside its validity",
                reason: "validity",
                loaded: 1,
                issues: [],
                row: "true"
            ) { scene in
                let (leaf, date) = try lately(scene)
                let inside = try scene.signed(chain: scene.chain(leaf), by: leaf, date: date)
                let outside = try scene.signed(chain: scene.chain(leaf), by: leaf, date: date + .seconds(86_400))
                return [quoted(inside), quoted(outside)]
            },
        ]

    /// A leaf that was valid for two days and has expired, and the middle of that time.
    private static func lately(_ scene: RecordScene) throws -> (leaf: IssuedCertificate, middle: UnixMilliseconds) {
        let middle = scene.now - .seconds(10 * 86_400)
        let shape = CertificateShape.leaf(from: middle - .seconds(43_200), to: middle + .seconds(43_200))
        return (try scene.authority.intermediate.issue(shape), middle)
    }

    /// 1.2.840.113635.100.6.11.1.
    private static let leafMarker: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x0B, 0x01]
}
