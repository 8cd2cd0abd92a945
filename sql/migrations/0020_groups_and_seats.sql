-- Which groups do customers belong to, and who has the seats of a subscription?
--
-- Apple does not sign these answers, so the newest one is kept, with the time at which Apple gave it. The price tiers of seats are rows of
-- transactions and renewal infos; a replay fills them for records that were loaded before.
CREATE TABLE customer_groups (
    app_id                integer     NOT NULL,
    group_id              text        NOT NULL,
    app_transaction_id    text        NOT NULL,
    listed_transaction_id text        NOT NULL,
    group_type            text,
    role_product_ids      text[],
    roles                 text[],
    asked_at              timestamptz NOT NULL,
    first_seen_at         timestamptz NOT NULL DEFAULT now(),
    last_changed_at       timestamptz NOT NULL DEFAULT now(),
    last_run_id           bigint,
    PRIMARY KEY (app_id, group_id, app_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX customer_groups_app_transaction_id ON customer_groups (app_id, app_transaction_id);
CREATE INDEX customer_groups_listed_transaction_id ON customer_groups (app_id, listed_transaction_id);

CREATE TABLE group_members (
    app_id             integer     NOT NULL,
    group_id           text        NOT NULL,
    app_transaction_id text        NOT NULL,
    asked_at           timestamptz NOT NULL,
    first_seen_at      timestamptz NOT NULL DEFAULT now(),
    last_changed_at    timestamptz NOT NULL DEFAULT now(),
    last_run_id        bigint,
    PRIMARY KEY (app_id, group_id, app_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX group_members_app_transaction_id ON group_members (app_id, app_transaction_id);

CREATE TABLE seats (
    app_id                  integer     NOT NULL,
    original_transaction_id text        NOT NULL,
    total_seat_count        integer     NOT NULL,
    available_seat_count    integer     NOT NULL,
    asked_at                timestamptz NOT NULL,
    first_seen_at           timestamptz NOT NULL DEFAULT now(),
    last_changed_at         timestamptz NOT NULL DEFAULT now(),
    last_run_id             bigint,
    PRIMARY KEY (app_id, original_transaction_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);

CREATE TABLE seat_claims (
    app_id                  integer NOT NULL,
    seat_claim_id           text    NOT NULL,
    original_transaction_id text    NOT NULL,
    PRIMARY KEY (app_id, seat_claim_id),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
CREATE INDEX seat_claims_original_transaction_id ON seat_claims (app_id, original_transaction_id);

CREATE TABLE seat_price_tiers (
    app_id           integer NOT NULL,
    owner_kind       text    NOT NULL,
    owner_key        text    NOT NULL,
    position         integer NOT NULL,
    price_milliunits bigint,
    quantity         integer,
    currency         text,
    PRIMARY KEY (app_id, owner_kind, owner_key, position),
    FOREIGN KEY (app_id) REFERENCES apps(app_id)
);
