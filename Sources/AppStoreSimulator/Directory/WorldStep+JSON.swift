import StrictJSON

/// A step as the journal writes it.
extension WorldStep {
    var json: [UInt8] {
        jsonObject {
            switch self {
            case .changes(let count, let date):
                $0.member("changes", Int64(count))
                $0.member("from", date)
            case .days(let count):
                $0.member("days", Int64(count))
            case .refundRequests(let count, let date):
                $0.member("refundRequests", Int64(count))
                $0.member("from", date)
            case .renewals(let count, let date):
                $0.member("renewals", Int64(count))
                $0.member("from", date)
            case .until(let moment):
                $0.member("until", moment)
            case .customers(let count, let date):
                $0.member("customers", Int64(count))
                $0.member("from", date)
            case .purchaseTokens(let count, let date):
                $0.member("externalPurchaseTokens", Int64(count))
                $0.member("from", date)
            case .unclaims(let count, let date):
                $0.member("unclaims", Int64(count))
                $0.member("from", date)
            case .action(let request):
                let parameters = request.parameters.sorted { $0.key < $1.key }
                $0.member("endpoint", request.endpoint.text)
                $0.member("parameters", raw: jsonObject { for (name, value) in parameters { $0.member(name, value) } })
                $0.member("body", String(decoding: request.body, as: UTF8.self))
                $0.member("at", request.date)
            }
        }
    }

    /// Returns `nil` for an object that is not a step.
    init?(_ object: JSONObject) {
        if let count = object.integer("changes") {
            // Missing in files of older versions, which put changes right after the last one.
            self = .changes(count, from: Int64(object.integer("from") ?? 0))
        } else if let count = object.integer("days") {
            self = .days(count)
        } else if let count = object.integer("refundRequests") {
            self = .refundRequests(count, from: Int64(object.integer("from") ?? 0))
        } else if let count = object.integer("renewals") {
            self = .renewals(count, from: Int64(object.integer("from") ?? 0))
        } else if let moment = object.integer("until") {
            self = .until(Int64(moment))
        } else if let count = object.integer("customers") {
            self = .customers(count, from: Int64(object.integer("from") ?? 0))
        } else if let count = object.integer("externalPurchaseTokens") {
            self = .purchaseTokens(count, from: Int64(object.integer("from") ?? 0))
        } else if let count = object.integer("unclaims") {
            self = .unclaims(count, from: Int64(object.integer("from") ?? 0))
        } else if let request = ActionRequest(object) {
            self = .action(request)
        } else {
            return nil
        }
    }
}

extension ActionRequest {
    fileprivate init?(_ object: JSONObject) {
        guard let endpoint = object["endpoint"]?.string, let parameters = object["parameters"]?.object,
            let body = object["body"]?.string, let date = object.integer("at")
        else { return nil }
        self.endpoint = EndpointName(text: endpoint)
        self.parameters = Dictionary(uniqueKeysWithValues: parameters.members.map { ($0.key, $0.value.string ?? "") })
        self.body = Array(body.utf8)
        self.date = Int64(date)
    }
}
