-- What a PostgreSQL store of release 0.2.0 holds before its first use.

CREATE FUNCTION keeps_unless_erasing() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN IF NOT EXISTS (SELECT 1 FROM erasure_window) THEN RAISE EXCEPTION '% keeps what it holds', TG_TABLE_NAME; END IF; RETURN NEW; END $$;

CREATE FUNCTION keeps_what_it_holds() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION '% keeps what it holds', TG_TABLE_NAME; END $$;

CREATE FUNCTION refund_within_its_term() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN IF NOT (EXISTS (SELECT 1 FROM purchase WHERE id = NEW.purchase_id AND (NEW.renewal_id IS NOT NULL OR (NEW.total_minor <= total_minor AND NEW.mca_profit_minor <= mca_profit_minor AND NEW.distributor_profit_minor <= distributor_profit_minor))) AND (NEW.renewal_id IS NULL OR EXISTS (SELECT 1 FROM renewal WHERE id = NEW.renewal_id AND purchase_id = NEW.purchase_id AND NEW.total_minor <= total_minor AND NEW.mca_profit_minor <= mca_profit_minor AND NEW.distributor_profit_minor <= distributor_profit_minor))) THEN RAISE EXCEPTION 'refund is above what was paid for its term' USING ERRCODE = 'check_violation'; END IF; RETURN NEW; END $$;

CREATE TABLE adjustment (
    id uuid NOT NULL,
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    total_minor bigint NOT NULL,
    mca_profit_minor bigint NOT NULL,
    distributor_profit_minor bigint NOT NULL,
    corrects_kind character varying(10) NOT NULL,
    corrects_id uuid NOT NULL,
    reason character varying NOT NULL,
    proposed_by uuid NOT NULL,
    proposal_id uuid CONSTRAINT adjustment_proposal_id_not_null1 NOT NULL,
    policy_id uuid NOT NULL,
    purchase_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    product_version_id uuid NOT NULL,
    product_category_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    approved_by uuid NOT NULL,
    renewal_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_adjustment_corrects_kind CHECK ((corrects_kind IN ('purchase', 'renewal', 'refund', 'adjustment'))),
    CONSTRAINT ck_adjustment_two_people CHECK ((approved_by <> proposed_by))
);

CREATE TABLE adjustment_proposal (
    id uuid NOT NULL,
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    total_minor bigint NOT NULL,
    mca_profit_minor bigint NOT NULL,
    distributor_profit_minor bigint NOT NULL,
    corrects_kind character varying(10) NOT NULL,
    corrects_id uuid NOT NULL,
    reason character varying NOT NULL,
    proposed_by uuid NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    state character varying(10) NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    refusal character varying,
    CONSTRAINT ck_adjustment_proposal_changes_something CHECK (((total_minor <> 0) OR (mca_profit_minor <> 0) OR (distributor_profit_minor <> 0))),
    CONSTRAINT ck_adjustment_proposal_corrects_kind CHECK ((corrects_kind IN ('purchase', 'renewal', 'refund', 'adjustment'))),
    CONSTRAINT ck_adjustment_proposal_decided CHECK ((((state)::text = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT ck_adjustment_proposal_state CHECK ((state IN ('open', 'confirmed', 'refused', 'withdrawn'))),
    CONSTRAINT ck_adjustment_proposal_two_people CHECK (((state NOT IN ('confirmed', 'refused')) OR (decided_by <> proposed_by)))
);

CREATE TABLE agreement (
    id uuid NOT NULL,
    account character varying(11) NOT NULL,
    distributor_id uuid,
    provider_id uuid,
    number character varying(60) NOT NULL,
    starts_on date NOT NULL,
    ends_on date,
    contact_email character varying(254),
    licence_number character varying(60),
    licence_expires_on date,
    tin character varying(20),
    is_resident boolean NOT NULL,
    is_small boolean NOT NULL,
    charges_vat boolean NOT NULL,
    collects character varying(11) NOT NULL,
    class_of_business character varying(60),
    remittance_days integer NOT NULL,
    bordereau_due_day integer NOT NULL,
    made_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_agreement_account CHECK ((account IN ('distributor', 'provider'))),
    CONSTRAINT ck_agreement_bordereau_due_day CHECK (((bordereau_due_day >= 1) AND (bordereau_due_day <= 28))),
    CONSTRAINT ck_agreement_collects CHECK ((collects IN ('platform', 'distributor'))),
    CONSTRAINT ck_agreement_one_party CHECK (((((account)::text = 'distributor'::text) AND (distributor_id IS NOT NULL) AND (provider_id IS NULL)) OR (((account)::text = 'provider'::text) AND (provider_id IS NOT NULL) AND (distributor_id IS NULL)))),
    CONSTRAINT ck_agreement_remittance_days CHECK (((remittance_days >= 1) AND (remittance_days <= 365))),
    CONSTRAINT ck_agreement_term CHECK (((ends_on IS NULL) OR (ends_on >= starts_on)))
);

CREATE TABLE api_key (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    name character varying(100) NOT NULL,
    hint character varying(24) NOT NULL,
    key_hash character varying(64) NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone
);

CREATE TABLE audit_entry (
    id uuid NOT NULL,
    chain integer NOT NULL,
    "position" bigint NOT NULL,
    actor character varying(120) NOT NULL,
    action character varying(60) NOT NULL,
    subject character varying(120) NOT NULL,
    before json,
    after json,
    created_at timestamp with time zone NOT NULL,
    hash character varying(64) NOT NULL,
    trace_id character varying(32)
);

CREATE TABLE audit_head (
    chain integer NOT NULL,
    "position" bigint NOT NULL,
    hash character varying(64) NOT NULL
);

CREATE SEQUENCE audit_head_chain_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE audit_head_chain_seq OWNED BY audit_head.chain;

CREATE TABLE automation (
    name character varying(40) NOT NULL,
    is_on boolean NOT NULL,
    changed_by character varying(120),
    changed_at timestamp with time zone NOT NULL,
    day date,
    is_finished boolean NOT NULL,
    after_at timestamp with time zone,
    after_id uuid,
    done integer NOT NULL
);

CREATE TABLE bank_account (
    id uuid NOT NULL,
    account character varying(11) NOT NULL,
    distributor_id uuid,
    provider_id uuid,
    bank_name character varying(100) NOT NULL,
    account_name character varying(100) NOT NULL,
    hint character varying(4) NOT NULL,
    sealed character varying NOT NULL,
    proposed_by uuid NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    state character varying(10) NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    usable_from timestamp with time zone,
    CONSTRAINT ck_bank_account_account CHECK ((account IN ('distributor', 'provider'))),
    CONSTRAINT ck_bank_account_decided CHECK ((((state)::text = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT ck_bank_account_one_party CHECK (((((account)::text = 'distributor'::text) AND (distributor_id IS NOT NULL) AND (provider_id IS NULL)) OR (((account)::text = 'provider'::text) AND (provider_id IS NOT NULL) AND (distributor_id IS NULL)))),
    CONSTRAINT ck_bank_account_rests CHECK ((((state)::text = 'confirmed'::text) = (usable_from IS NOT NULL))),
    CONSTRAINT ck_bank_account_state CHECK ((state IN ('open', 'confirmed', 'refused', 'withdrawn'))),
    CONSTRAINT ck_bank_account_two_people CHECK (((state NOT IN ('confirmed', 'refused')) OR (decided_by <> proposed_by)))
);

CREATE TABLE bordereau (
    id uuid NOT NULL,
    provider_id uuid NOT NULL,
    kind character varying(7) NOT NULL,
    number integer NOT NULL,
    month date NOT NULL,
    state character varying(12) NOT NULL,
    rows integer NOT NULL,
    totals json NOT NULL,
    sha256 character varying(64) NOT NULL,
    facts json NOT NULL,
    issued_by uuid NOT NULL,
    issued_at timestamp with time zone NOT NULL,
    sent_by uuid,
    sent_at timestamp with time zone,
    answered_by uuid,
    answered_at timestamp with time zone,
    note character varying,
    CONSTRAINT ck_bordereau_kind CHECK ((kind IN ('premium', 'claims'))),
    CONSTRAINT ck_bordereau_sent CHECK ((((state)::text = 'Issued'::text) = (sent_at IS NULL))),
    CONSTRAINT ck_bordereau_state CHECK ((state IN ('Issued', 'Sent', 'Acknowledged', 'Queried')))
);

CREATE TABLE bordereau_line (
    bordereau_id uuid NOT NULL,
    "position" integer NOT NULL,
    kind character varying(7) NOT NULL,
    subject_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    cells json NOT NULL,
    CONSTRAINT ck_bordereau_line_kind CHECK ((kind IN ('premium', 'claims')))
);

CREATE TABLE breach (
    id uuid NOT NULL,
    number character varying(20) NOT NULL,
    title character varying(120) NOT NULL,
    description character varying NOT NULL,
    actor character varying(120),
    known_at timestamp with time zone NOT NULL,
    since_at timestamp with time zone NOT NULL,
    until_at timestamp with time zone NOT NULL,
    people integer,
    risk character varying(10),
    risk_reason character varying,
    decided_by uuid,
    decided_at timestamp with time zone,
    commission_at timestamp with time zone,
    commission_reference character varying(60),
    people_at timestamp with time zone,
    closed_by uuid,
    closed_at timestamp with time zone,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    version integer NOT NULL,
    CONSTRAINT ck_breach_decided CHECK (((risk IS NULL) = (risk_reason IS NULL))),
    CONSTRAINT ck_breach_risk CHECK (((risk IS NULL) OR (risk IN ('unlikely', 'likely', 'high')))),
    CONSTRAINT ck_breach_span CHECK ((until_at >= since_at)),
    CONSTRAINT ck_breach_two_people CHECK (((closed_by IS NULL) OR (closed_by <> decided_by)))
);

CREATE TABLE certificate (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    code character varying(32) NOT NULL,
    policy_id uuid NOT NULL,
    start_at timestamp with time zone NOT NULL,
    expiration_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE claim (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    policy_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    inspection_id uuid,
    claim_type character varying(40) NOT NULL,
    claim_status character varying(30) NOT NULL,
    claim_description character varying NOT NULL,
    claim_owner character varying(40) NOT NULL,
    claim_owner_first_name character varying NOT NULL,
    claim_owner_last_name character varying NOT NULL,
    claim_owner_email character varying NOT NULL,
    claim_owner_phone_number character varying,
    decline_reason character varying NOT NULL,
    claim_amount_minor bigint NOT NULL,
    estimate_amount_minor bigint NOT NULL,
    repair_estimate_minor bigint NOT NULL,
    offer_amount_minor bigint NOT NULL,
    betterment_deduction_amount_minor bigint NOT NULL,
    excess_deduction_amount_minor bigint NOT NULL,
    approved_amount_minor bigint NOT NULL,
    incident_date character varying,
    claim_invoice_url character varying,
    offer_form_url character varying,
    payment_reference character varying,
    assigned_to uuid,
    approved_by uuid,
    flags json NOT NULL,
    vehicle_claim_meta json,
    gadget_claim_meta json,
    credit_life_claim_meta json,
    sealed character varying,
    account_key character varying(64),
    clock_from timestamp with time zone NOT NULL,
    clock_stopped_at timestamp with time zone,
    version integer NOT NULL,
    claim_meta json,
    claim_owner_name_key character varying DEFAULT ''::character varying NOT NULL,
    CONSTRAINT ck_claim_amounts CHECK (((claim_amount_minor >= 0) AND (estimate_amount_minor >= 0) AND (repair_estimate_minor >= 0) AND (offer_amount_minor >= 0) AND (betterment_deduction_amount_minor >= 0) AND (excess_deduction_amount_minor >= 0) AND (approved_amount_minor >= 0))),
    CONSTRAINT ck_claim_status CHECK ((claim_status IN ('Viewed', 'Pending', 'Inspection submitted', 'Approved', 'Declined', 'Reviewing', 'Repair estimate submitted', 'Offer sent', 'Offer accepted', 'Offer rejected', 'Paid', 'Settled')))
);

CREATE TABLE claim_comment (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    staff_id uuid NOT NULL,
    text character varying NOT NULL,
    for_claimant boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE claim_event (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    status character varying(30) NOT NULL,
    note character varying,
    staff_id uuid,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE claim_letter_sent (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    code character varying(32) NOT NULL,
    claim_id uuid NOT NULL,
    way character varying(12) NOT NULL,
    staff_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_claim_letter_sent_way CHECK ((way IN ('E-mail', 'Post', 'By hand', 'Message')))
);

CREATE TABLE claim_override (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    event_id uuid NOT NULL,
    check_key character varying(30) NOT NULL,
    is_failed boolean NOT NULL,
    detail character varying NOT NULL,
    reason character varying NOT NULL,
    duplicates json NOT NULL,
    staff_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE claim_payee (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    name character varying(200) NOT NULL,
    bank_name character varying(200),
    hint character varying(4),
    sealed character varying,
    reason character varying(500) NOT NULL,
    staff_id uuid,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE claim_payment (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    amount_minor bigint NOT NULL,
    reference character varying(60) NOT NULL,
    reference_key character varying NOT NULL,
    paid_by uuid,
    created_at timestamp with time zone NOT NULL,
    reverses uuid,
    payee_id uuid,
    method character varying(20),
    value_on date,
    file_id uuid,
    CONSTRAINT ck_claim_payment_amount CHECK ((((reverses IS NULL) = (amount_minor > 0)) AND (amount_minor <> 0)))
);

CREATE TABLE claim_payment_file (
    id uuid NOT NULL,
    is_live boolean NOT NULL,
    file_name character varying(200) NOT NULL,
    sha256 character varying(64) NOT NULL,
    payments integer NOT NULL,
    amount_minor bigint NOT NULL,
    paid_by uuid NOT NULL,
    paid_at timestamp with time zone NOT NULL
);

CREATE TABLE claim_question (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    staff_id uuid NOT NULL,
    text character varying NOT NULL,
    asked_at timestamp with time zone NOT NULL,
    answered_at timestamp with time zone,
    due_on date,
    answer character varying,
    closed_at timestamp with time zone
);

CREATE TABLE claim_referral (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    to_status character varying(30) NOT NULL,
    amount_minor bigint,
    note character varying NOT NULL,
    staff_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closed_by uuid,
    asks_role character varying(10) DEFAULT 'supervisor'::character varying NOT NULL
);

CREATE TABLE claim_reserve (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    change_minor bigint NOT NULL,
    reason character varying NOT NULL,
    staff_id uuid,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_claim_reserve_change CHECK ((change_minor <> 0))
);

CREATE TABLE claim_task (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    claim_id uuid NOT NULL,
    text character varying(500) NOT NULL,
    due_on date NOT NULL,
    assigned_to uuid NOT NULL,
    made_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    done_at timestamp with time zone,
    done_by uuid
);

CREATE TABLE claim_total (
    is_live boolean NOT NULL,
    claim_status character varying(30) NOT NULL,
    assigned_to uuid NOT NULL,
    clock_day date NOT NULL,
    part integer NOT NULL,
    claims bigint NOT NULL,
    claimed_minor bigint NOT NULL,
    offered_minor bigint NOT NULL,
    paid_minor bigint NOT NULL,
    payments bigint NOT NULL,
    outstanding_minor bigint NOT NULL
);

CREATE TABLE commission_share (
    id uuid NOT NULL,
    distributor_id uuid NOT NULL,
    product_id uuid,
    effective_at timestamp with time zone NOT NULL,
    commission_bp integer,
    proposed_by uuid NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    state character varying(10) NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    CONSTRAINT ck_commission_share_commission CHECK (((commission_bp >= 0) AND (commission_bp <= 10000))),
    CONSTRAINT ck_commission_share_decided CHECK ((((state)::text = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT ck_commission_share_state CHECK ((state IN ('open', 'confirmed', 'refused', 'withdrawn'))),
    CONSTRAINT ck_commission_share_two_people CHECK (((state NOT IN ('confirmed', 'refused')) OR (decided_by <> proposed_by)))
);

CREATE TABLE complaint (
    id uuid NOT NULL,
    number character varying(20) NOT NULL,
    category character varying(10) NOT NULL,
    provider_id uuid,
    policy_id uuid,
    customer_id uuid,
    name character varying NOT NULL,
    contact character varying(254),
    text character varying NOT NULL,
    received_at timestamp with time zone NOT NULL,
    due_on date NOT NULL,
    outcome character varying,
    answered_by uuid,
    answered_at timestamp with time zone,
    created_by uuid NOT NULL,
    CONSTRAINT ck_complaint_answered CHECK (((answered_at IS NULL) = (outcome IS NULL))),
    CONSTRAINT ck_complaint_category CHECK ((category IN ('delay', 'amount', 'refusal', 'service', 'privacy', 'other')))
);

CREATE TABLE compliance_figure (
    id uuid NOT NULL,
    name character varying(40) NOT NULL,
    effective_on date NOT NULL,
    amount integer NOT NULL,
    source character varying NOT NULL,
    set_by uuid,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE credit_note (
    distributor_id uuid NOT NULL,
    id uuid NOT NULL,
    refund_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    is_live boolean NOT NULL,
    number integer NOT NULL,
    total_minor bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    made_by character varying(120) NOT NULL,
    state character varying(20) NOT NULL,
    first_by uuid,
    approved_by uuid,
    paid_by uuid,
    returned_by uuid,
    first_at timestamp with time zone,
    approved_at timestamp with time zone,
    paid_at timestamp with time zone,
    payee character varying(200),
    reference character varying(60),
    reference_key character varying(60),
    value_on date,
    returned_on date,
    note character varying,
    CONSTRAINT ck_credit_note_amount CHECK ((total_minor > 0)),
    CONSTRAINT ck_credit_note_approved CHECK (((state NOT IN ('Approved', 'Paid', 'Returned')) OR ((approved_by IS NOT NULL) AND (approved_at IS NOT NULL)))),
    CONSTRAINT ck_credit_note_paid CHECK (((state NOT IN ('Paid', 'Returned')) OR ((paid_by IS NOT NULL) AND (payee IS NOT NULL) AND (reference_key IS NOT NULL) AND (value_on IS NOT NULL)))),
    CONSTRAINT ck_credit_note_paid_by_another CHECK ((paid_by <> approved_by)),
    CONSTRAINT ck_credit_note_returned CHECK ((((state)::text = 'Returned'::text) = (returned_on IS NOT NULL))),
    CONSTRAINT ck_credit_note_state CHECK ((state IN ('Computed', 'Awaits second person', 'Approved', 'Paid', 'Returned', 'Not recorded'))),
    CONSTRAINT ck_credit_note_two_people CHECK ((approved_by <> first_by))
);

CREATE TABLE customer (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    email character varying(254) NOT NULL,
    email_key character varying(254) NOT NULL,
    first_name character varying NOT NULL,
    last_name character varying NOT NULL,
    phone_number character varying(32),
    user_id uuid NOT NULL,
    wallet_id uuid,
    country character varying,
    gender character varying,
    title character varying,
    state_of_residence character varying,
    city character varying,
    address character varying,
    date_of_birth character varying,
    identity_verification character varying,
    verification_type character varying,
    face_image character varying,
    is_kyc_complete boolean NOT NULL,
    active boolean NOT NULL,
    name_key character varying DEFAULT ''::character varying NOT NULL
);

CREATE TABLE customer_merge (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    merged_id uuid NOT NULL,
    kept_id uuid NOT NULL,
    merged_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_customer_merge_two_records CHECK ((merged_id <> kept_id))
);

CREATE TABLE customer_note (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    kind character varying(10) NOT NULL,
    text character varying(1000) NOT NULL,
    author_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_customer_note_kind CHECK ((kind IN ('note', 'call', 'message', 'visit')))
);

CREATE TABLE data_request (
    id uuid NOT NULL,
    number character varying(20) NOT NULL,
    kind character varying(15) NOT NULL,
    state character varying(15) NOT NULL,
    name character varying NOT NULL,
    email character varying(254),
    phone character varying(32),
    subject_key character varying(64) NOT NULL,
    details character varying NOT NULL,
    customers json NOT NULL,
    received_at timestamp with time zone NOT NULL,
    acknowledge_by date NOT NULL,
    due_on date NOT NULL,
    extended_to date,
    extension_reason character varying,
    acknowledged_at timestamp with time zone,
    identity_method character varying(40),
    identity_by uuid,
    identity_at timestamp with time zone,
    refusal_code character varying(30),
    outcome character varying,
    answered_by uuid,
    answered_at timestamp with time zone,
    created_by uuid NOT NULL,
    version integer NOT NULL,
    CONSTRAINT ck_data_request_answered CHECK (((state IN ('answered', 'refused')) = (answered_at IS NOT NULL))),
    CONSTRAINT ck_data_request_extension CHECK (((extended_to IS NULL) = (extension_reason IS NULL))),
    CONSTRAINT ck_data_request_identity CHECK (((identity_by IS NULL) = (identity_at IS NULL))),
    CONSTRAINT ck_data_request_kind CHECK ((kind IN ('access', 'copy', 'rectification', 'erasure', 'restriction', 'objection', 'grievance'))),
    CONSTRAINT ck_data_request_state CHECK ((state IN ('received', 'acknowledged', 'answered', 'refused', 'withdrawn')))
);

CREATE TABLE day_total (
    is_live boolean NOT NULL,
    day date NOT NULL,
    part integer NOT NULL,
    sold bigint NOT NULL,
    sold_minor bigint NOT NULL,
    sold_mca_minor bigint NOT NULL,
    sold_distributor_minor bigint NOT NULL,
    renewed bigint NOT NULL,
    renewed_minor bigint NOT NULL,
    renewed_mca_minor bigint NOT NULL,
    renewed_distributor_minor bigint NOT NULL,
    refunds bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    in_force_change bigint NOT NULL,
    terms_ended bigint NOT NULL,
    terms_renewed bigint NOT NULL,
    refunded_mca_minor bigint DEFAULT '0'::bigint NOT NULL,
    refunded_distributor_minor bigint DEFAULT '0'::bigint NOT NULL,
    adjustments bigint DEFAULT '0'::bigint NOT NULL,
    adjusted_minor bigint DEFAULT '0'::bigint NOT NULL,
    adjusted_mca_minor bigint DEFAULT '0'::bigint NOT NULL,
    adjusted_distributor_minor bigint DEFAULT '0'::bigint NOT NULL
);

CREATE TABLE daybook_line (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    part integer NOT NULL,
    grain character varying(5) NOT NULL,
    day date NOT NULL,
    product_id uuid NOT NULL,
    premium_frequency character varying(20) NOT NULL,
    sold bigint NOT NULL,
    sold_minor bigint NOT NULL,
    sold_mca_minor bigint NOT NULL,
    sold_distributor_minor bigint NOT NULL,
    renewed bigint NOT NULL,
    renewed_minor bigint NOT NULL,
    renewed_mca_minor bigint NOT NULL,
    renewed_distributor_minor bigint NOT NULL,
    refunds bigint NOT NULL,
    refunded_minor bigint NOT NULL,
    refunded_mca_minor bigint DEFAULT '0'::bigint NOT NULL,
    refunded_distributor_minor bigint DEFAULT '0'::bigint NOT NULL,
    adjustments bigint DEFAULT '0'::bigint NOT NULL,
    adjusted_minor bigint DEFAULT '0'::bigint NOT NULL,
    adjusted_mca_minor bigint DEFAULT '0'::bigint NOT NULL,
    adjusted_distributor_minor bigint DEFAULT '0'::bigint NOT NULL,
    CONSTRAINT ck_daybook_line_grain CHECK ((grain IN ('day', 'month')))
);

CREATE TABLE difference (
    id uuid NOT NULL,
    reconciliation_id uuid NOT NULL,
    result character varying(14) NOT NULL,
    policy_number character varying(120) NOT NULL,
    kind character varying(20) NOT NULL,
    ours_minor bigint NOT NULL,
    theirs_minor bigint NOT NULL,
    difference_minor bigint NOT NULL,
    detail character varying NOT NULL,
    rows json NOT NULL,
    subjects json NOT NULL,
    state character varying(15) NOT NULL,
    owner_id uuid,
    cause character varying(40),
    note character varying,
    adjustment_id uuid,
    asked_by uuid,
    decided_by uuid,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_difference_adjusted CHECK ((((state)::text = 'Adjusted'::text) = (adjustment_id IS NOT NULL))),
    CONSTRAINT ck_difference_difference CHECK ((difference_minor = (ours_minor - theirs_minor))),
    CONSTRAINT ck_difference_result CHECK ((result IN ('amount differs', 'rate differs', 'only ours', 'only theirs', 'timing', 'not checked'))),
    CONSTRAINT ck_difference_state CHECK ((state IN ('Open', 'Explained', 'Write-off asked', 'Adjusted', 'Written off'))),
    CONSTRAINT ck_difference_two_people CHECK ((((state)::text <> 'Written off'::text) OR ((asked_by IS NOT NULL) AND (decided_by IS NOT NULL) AND (decided_by <> asked_by))))
);

CREATE TABLE distributor (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    business_name character varying(100) NOT NULL,
    email character varying,
    active boolean NOT NULL
);

CREATE TABLE endorsement_notice (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    endorsement_id uuid NOT NULL,
    policy_id uuid NOT NULL,
    told_by uuid NOT NULL,
    note character varying(200) NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE erasure (
    id uuid NOT NULL,
    number character varying(20) NOT NULL,
    record_class character varying(20) NOT NULL,
    request_id uuid,
    customers json NOT NULL,
    before_at timestamp with time zone,
    reason character varying NOT NULL,
    is_early boolean NOT NULL,
    is_restored boolean NOT NULL,
    prepared_by uuid,
    prepared_at timestamp with time zone NOT NULL,
    state character varying(10) NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    refusal character varying,
    outcome json NOT NULL,
    sha256 character varying(64),
    CONSTRAINT ck_erasure_by_whom CHECK ((is_restored OR ((prepared_by IS NOT NULL) AND (((state)::text <> 'erased'::text) OR (decided_by IS NOT NULL))))),
    CONSTRAINT ck_erasure_certified CHECK ((((state)::text = 'erased'::text) = (sha256 IS NOT NULL))),
    CONSTRAINT ck_erasure_decided CHECK ((((state)::text = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT ck_erasure_state CHECK ((state IN ('open', 'erased', 'refused', 'withdrawn'))),
    CONSTRAINT ck_erasure_two_people CHECK (((state NOT IN ('erased', 'refused')) OR (decided_by <> prepared_by)))
);

CREATE TABLE erasure_window (
    id integer NOT NULL
);

CREATE SEQUENCE erasure_window_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE erasure_window_id_seq OWNED BY erasure_window.id;

CREATE TABLE event (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    "position" bigint NOT NULL,
    type character varying(40) NOT NULL,
    object_type character varying(20) NOT NULL,
    object_id uuid NOT NULL,
    sequence integer NOT NULL,
    origin character varying(120) NOT NULL,
    body bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    trace_id character varying(32)
);

CREATE TABLE event_cursor (
    chain integer NOT NULL,
    "position" bigint NOT NULL
);

CREATE SEQUENCE event_cursor_chain_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE event_cursor_chain_seq OWNED BY event_cursor.chain;

CREATE TABLE event_feed (
    id integer NOT NULL,
    "position" bigint NOT NULL,
    swept_at timestamp with time zone
);

CREATE SEQUENCE event_feed_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE event_feed_id_seq OWNED BY event_feed.id;

CREATE TABLE export_receipt (
    id uuid NOT NULL,
    staff_id uuid,
    kind character varying(20) NOT NULL,
    format character varying(10) NOT NULL,
    is_live boolean NOT NULL,
    filters json NOT NULL,
    rows bigint NOT NULL,
    sum_minor bigint NOT NULL,
    sha256 character varying(64) NOT NULL,
    content_sha256 character varying(64) NOT NULL,
    again_of uuid,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE file_mapping (
    key character varying(60) NOT NULL,
    kind character varying(7) NOT NULL,
    provider_id uuid,
    columns json NOT NULL,
    amount_is character varying(5) NOT NULL,
    tolerance_minor bigint NOT NULL,
    timing_days integer NOT NULL,
    changed_by uuid NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_file_mapping_kind CHECK ((kind IN ('insurer', 'bank')))
);

CREATE TABLE filing (
    id uuid NOT NULL,
    kind character varying(20) NOT NULL,
    period_ends_on date NOT NULL,
    due_on date NOT NULL,
    state character varying(10) NOT NULL,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    checked_by uuid,
    checked_at timestamp with time zone,
    sent_by uuid,
    sent_at timestamp with time zone,
    reference character varying(60),
    CONSTRAINT ck_filing_checked CHECK ((((state)::text = 'prepared'::text) = (checked_by IS NULL))),
    CONSTRAINT ck_filing_kind CHECK ((kind IN ('brokerage', 'client_account', 'bordereaux', 'data_protection'))),
    CONSTRAINT ck_filing_sent CHECK ((((state)::text = 'sent'::text) = (sent_at IS NOT NULL))),
    CONSTRAINT ck_filing_state CHECK ((state IN ('prepared', 'checked', 'sent'))),
    CONSTRAINT ck_filing_two_people CHECK ((checked_by <> prepared_by))
);

CREATE TABLE heartbeat (
    name character varying(80) NOT NULL,
    release character varying(40) NOT NULL,
    started_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL
);

CREATE TABLE inspection (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    reference character varying
);

CREATE TABLE insured_risk (
    product_id uuid NOT NULL,
    risk_hash character varying(64) NOT NULL,
    sold_at timestamp with time zone NOT NULL
);

CREATE TABLE insurer_connection (
    provider_id uuid NOT NULL,
    failures integer NOT NULL,
    rests_until timestamp with time zone,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    last_error character varying
);

CREATE TABLE kept_answer (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    key character varying(200) NOT NULL,
    fingerprint character varying(64) NOT NULL,
    status integer NOT NULL,
    body bytea NOT NULL,
    headers json NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE legal_hold (
    id uuid NOT NULL,
    customer_id uuid NOT NULL,
    reason character varying NOT NULL,
    set_by uuid NOT NULL,
    set_at timestamp with time zone NOT NULL,
    lifted_by uuid,
    lifted_at timestamp with time zone,
    CONSTRAINT ck_legal_hold_lifted CHECK (((lifted_by IS NULL) = (lifted_at IS NULL))),
    CONSTRAINT ck_legal_hold_two_people CHECK (((lifted_by IS NULL) OR (lifted_by <> set_by)))
);

CREATE TABLE mail (
    id uuid NOT NULL,
    state character varying(12) NOT NULL,
    attempts integer NOT NULL,
    failures integer NOT NULL,
    next_try_at timestamp with time zone,
    leased_until timestamp with time zone,
    last_error character varying,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    recipient character varying(254) NOT NULL,
    template character varying(40) NOT NULL,
    subject character varying(200) NOT NULL,
    body character varying NOT NULL,
    about character varying(80),
    sent_by character varying(120),
    CONSTRAINT ck_mail_state CHECK ((state IN ('queued', 'sent', 'dead')))
);

CREATE TABLE mail_text (
    name character varying(40) NOT NULL,
    subject character varying(150) NOT NULL,
    body character varying NOT NULL,
    version integer NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE month_step (
    id uuid NOT NULL,
    month date NOT NULL,
    "position" integer NOT NULL,
    state character varying(9) NOT NULL,
    by uuid NOT NULL,
    before_by uuid,
    at timestamp with time zone NOT NULL,
    note character varying,
    sha256 character varying(64),
    facts_kept boolean NOT NULL,
    facts json NOT NULL,
    CONSTRAINT ck_month_step_journal CHECK ((((state)::text <> 'Closed'::text) OR (sha256 IS NOT NULL))),
    CONSTRAINT ck_month_step_state CHECK ((state IN ('Open', 'Closing', 'Closed', 'Reopening', 'Reopened'))),
    CONSTRAINT ck_month_step_two_people CHECK (((((state)::text <> 'Reopened'::text) AND (((state)::text <> 'Closed'::text) OR facts_kept)) OR ((before_by IS NOT NULL) AND (before_by <> by))))
);

CREATE TABLE policy (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    purchase_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    buyer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    product_category_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    inspection_id uuid,
    first_name character varying NOT NULL,
    last_name character varying NOT NULL,
    email character varying(254) NOT NULL,
    phone character varying(32),
    dob character varying,
    start_at timestamp with time zone,
    activation_at timestamp with time zone,
    expiration_at timestamp with time zone,
    activated boolean NOT NULL,
    submitted_to_provider boolean NOT NULL,
    cancelled_at timestamp with time zone,
    declined_at timestamp with time zone,
    policy_number character varying(60),
    number_key character varying(60),
    provider_policy_id character varying,
    certificate_code character varying(32),
    plate_key character varying(40),
    device_serial_number character varying,
    risk_hash character varying(64),
    twin_key character varying(60),
    possible_duplicate_of uuid,
    sum_insured_minor bigint,
    market_price_minor bigint NOT NULL,
    genius_price_minor bigint NOT NULL,
    profit_minor bigint NOT NULL,
    payment_option character varying(40),
    payment_channel character varying(40),
    request_source character varying(40),
    submitted json NOT NULL,
    payload json NOT NULL,
    sealed character varying,
    explained json NOT NULL,
    version integer NOT NULL,
    CONSTRAINT ck_policy_numbered CHECK (((NOT activated) OR (number_key IS NOT NULL))),
    CONSTRAINT ck_policy_term CHECK (((expiration_at IS NULL) OR (start_at IS NULL) OR (expiration_at >= start_at)))
);

CREATE TABLE purchase (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    customer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    product_version_id uuid NOT NULL,
    product_category_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    batch_id uuid NOT NULL,
    premium_frequency character varying(20),
    discount_code_id uuid,
    total_minor bigint NOT NULL,
    mca_profit_minor bigint NOT NULL,
    distributor_profit_minor bigint NOT NULL,
    payment_option character varying(40),
    payment_channel character varying(40),
    request_source character varying(40),
    CONSTRAINT ck_purchase_parts CHECK (((total_minor >= 0) AND (mca_profit_minor >= 0) AND (distributor_profit_minor >= 0) AND ((mca_profit_minor + distributor_profit_minor) <= total_minor)))
);

CREATE TABLE refund (
    id uuid NOT NULL,
    is_live boolean NOT NULL,
    distributor_id uuid NOT NULL,
    policy_id uuid NOT NULL,
    purchase_id uuid NOT NULL,
    renewal_id uuid,
    customer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    product_version_id uuid NOT NULL,
    product_category_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    total_minor bigint NOT NULL,
    mca_profit_minor bigint NOT NULL,
    distributor_profit_minor bigint NOT NULL,
    method character varying(20) NOT NULL,
    reason character varying NOT NULL,
    explained json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_refund_parts CHECK (((total_minor >= 0) AND (mca_profit_minor >= 0) AND (distributor_profit_minor >= 0) AND ((mca_profit_minor + distributor_profit_minor) <= total_minor)))
);

CREATE TABLE renewal (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    policy_id uuid NOT NULL,
    purchase_id uuid NOT NULL,
    customer_id uuid NOT NULL,
    product_id uuid NOT NULL,
    product_version_id uuid NOT NULL,
    product_category_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    status boolean NOT NULL,
    total_minor bigint NOT NULL,
    mca_profit_minor bigint NOT NULL,
    distributor_profit_minor bigint NOT NULL,
    previous_expiration_at timestamp with time zone NOT NULL,
    start_at timestamp with time zone NOT NULL,
    expiration_at timestamp with time zone NOT NULL,
    payment_option character varying(40),
    payment_channel character varying(40),
    request_source character varying(40),
    CONSTRAINT ck_renewal_parts CHECK (((total_minor >= 0) AND (mca_profit_minor >= 0) AND (distributor_profit_minor >= 0) AND ((mca_profit_minor + distributor_profit_minor) <= total_minor)))
);

CREATE VIEW movement AS
 SELECT 'purchase'::text AS kind,
    purchase.id,
    purchase.created_at,
    purchase.is_live,
    purchase.distributor_id,
    purchase.customer_id,
    purchase.product_id,
    purchase.product_version_id,
    purchase.product_category_id,
    purchase.provider_id,
    ( SELECT policy.id
           FROM policy
          WHERE (policy.purchase_id = purchase.id)) AS policy_id,
    purchase.id AS purchase_id,
    NULL::uuid AS renewal_id,
    purchase.request_source,
    purchase.total_minor,
    purchase.mca_profit_minor,
    purchase.distributor_profit_minor,
    ((purchase.total_minor - purchase.mca_profit_minor) - purchase.distributor_profit_minor) AS provider_share_minor
   FROM purchase
  WHERE (purchase.deleted_at IS NULL)
UNION ALL
 SELECT 'renewal'::text AS kind,
    renewal.id,
    renewal.created_at,
    renewal.is_live,
    renewal.distributor_id,
    renewal.customer_id,
    renewal.product_id,
    renewal.product_version_id,
    renewal.product_category_id,
    renewal.provider_id,
    renewal.policy_id,
    renewal.purchase_id,
    renewal.id AS renewal_id,
    ( SELECT sale.request_source
           FROM purchase sale
          WHERE (sale.id = renewal.purchase_id)) AS request_source,
    renewal.total_minor,
    renewal.mca_profit_minor,
    renewal.distributor_profit_minor,
    ((renewal.total_minor - renewal.mca_profit_minor) - renewal.distributor_profit_minor) AS provider_share_minor
   FROM renewal
  WHERE ((renewal.deleted_at IS NULL) AND renewal.status)
UNION ALL
 SELECT 'refund'::text AS kind,
    refund.id,
    refund.created_at,
    refund.is_live,
    refund.distributor_id,
    refund.customer_id,
    refund.product_id,
    refund.product_version_id,
    refund.product_category_id,
    refund.provider_id,
    refund.policy_id,
    refund.purchase_id,
    refund.renewal_id,
    ( SELECT sale.request_source
           FROM purchase sale
          WHERE (sale.id = refund.purchase_id)) AS request_source,
    (- refund.total_minor) AS total_minor,
    (- refund.mca_profit_minor) AS mca_profit_minor,
    (- refund.distributor_profit_minor) AS distributor_profit_minor,
    (- ((refund.total_minor - refund.mca_profit_minor) - refund.distributor_profit_minor)) AS provider_share_minor
   FROM refund
UNION ALL
 SELECT 'adjustment'::text AS kind,
    adjustment.id,
    adjustment.created_at,
    adjustment.is_live,
    adjustment.distributor_id,
    adjustment.customer_id,
    adjustment.product_id,
    adjustment.product_version_id,
    adjustment.product_category_id,
    adjustment.provider_id,
    adjustment.policy_id,
    adjustment.purchase_id,
    adjustment.renewal_id,
    ( SELECT sale.request_source
           FROM purchase sale
          WHERE (sale.id = adjustment.purchase_id)) AS request_source,
    adjustment.total_minor,
    adjustment.mca_profit_minor,
    adjustment.distributor_profit_minor,
    ((adjustment.total_minor - adjustment.mca_profit_minor) - adjustment.distributor_profit_minor) AS provider_share_minor
   FROM adjustment;

CREATE TABLE number_counter (
    series character varying(80) NOT NULL,
    last bigint NOT NULL
);

CREATE TABLE one_time_ticket (
    ticket_hash character varying(64) NOT NULL,
    used_at timestamp with time zone NOT NULL
);

CREATE TABLE payment (
    id uuid NOT NULL,
    account character varying(11) NOT NULL,
    distributor_id uuid,
    provider_id uuid,
    direction character varying(3) NOT NULL,
    statement_id uuid NOT NULL,
    batch_id uuid,
    bank_account_id uuid,
    gross_minor bigint NOT NULL,
    vat_minor bigint NOT NULL,
    withheld_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    state character varying(9) NOT NULL,
    bank_reference character varying(60),
    reference_key character varying(60),
    value_on date,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    approved_by uuid,
    approved_at timestamp with time zone,
    confirmed_by uuid,
    confirmed_at timestamp with time zone,
    returned_by uuid,
    returned_on date,
    note character varying,
    CONSTRAINT ck_payment_account CHECK ((account IN ('distributor', 'provider'))),
    CONSTRAINT ck_payment_approved CHECK (((approved_by IS NULL) = (approved_at IS NULL))),
    CONSTRAINT ck_payment_confirmed CHECK ((((state)::text <> 'Confirmed'::text) OR ((confirmed_by IS NOT NULL) AND (bank_reference IS NOT NULL) AND (value_on IS NOT NULL)))),
    CONSTRAINT ck_payment_direction CHECK ((direction IN ('out', 'in'))),
    CONSTRAINT ck_payment_in_two_hands CHECK (((state NOT IN ('Approved', 'Confirmed')) OR (approved_by IS NOT NULL))),
    CONSTRAINT ck_payment_one_party CHECK (((((account)::text = 'distributor'::text) AND (distributor_id IS NOT NULL) AND (provider_id IS NULL)) OR (((account)::text = 'provider'::text) AND (provider_id IS NOT NULL) AND (distributor_id IS NULL)))),
    CONSTRAINT ck_payment_parts CHECK ((net_minor = ((gross_minor + vat_minor) - withheld_minor))),
    CONSTRAINT ck_payment_payee CHECK ((((direction)::text = 'in'::text) OR (bank_account_id IS NOT NULL))),
    CONSTRAINT ck_payment_returned CHECK ((((state)::text = 'Returned'::text) = (returned_on IS NOT NULL))),
    CONSTRAINT ck_payment_sign CHECK (((net_minor <> 0) AND (((direction)::text = 'out'::text) = (net_minor > 0)))),
    CONSTRAINT ck_payment_state CHECK ((state IN ('Prepared', 'Approved', 'Confirmed', 'Returned', 'Withdrawn'))),
    CONSTRAINT ck_payment_two_people CHECK ((approved_by <> prepared_by))
);

CREATE TABLE payment_settlement (
    payment_id uuid NOT NULL,
    statement_id uuid NOT NULL,
    net_minor bigint NOT NULL,
    vat_minor bigint NOT NULL,
    withheld_minor bigint NOT NULL
);

CREATE TABLE payout_batch (
    id uuid NOT NULL,
    number integer NOT NULL,
    state character varying(9) NOT NULL,
    payments integer NOT NULL,
    net_minor bigint NOT NULL,
    sha256 character varying(64),
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    approved_by uuid,
    approved_at timestamp with time zone,
    note character varying,
    CONSTRAINT ck_payout_batch_approved CHECK (((approved_by IS NULL) = (approved_at IS NULL))),
    CONSTRAINT ck_payout_batch_file CHECK ((((state)::text <> 'Approved'::text) OR ((approved_by IS NOT NULL) AND (sha256 IS NOT NULL)))),
    CONSTRAINT ck_payout_batch_state CHECK ((state IN ('Prepared', 'Approved', 'Withdrawn'))),
    CONSTRAINT ck_payout_batch_two_people CHECK ((approved_by <> prepared_by))
);

CREATE TABLE policy_endorsement (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    policy_id uuid NOT NULL,
    made_by uuid NOT NULL,
    number integer NOT NULL,
    effective_on date NOT NULL,
    changes json NOT NULL,
    reason character varying(500) NOT NULL,
    requested_by character varying(200) NOT NULL,
    premium_minor bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_policy_endorsement_number CHECK ((number > 0)),
    CONSTRAINT ck_policy_endorsement_premium CHECK ((premium_minor = 0))
);

CREATE TABLE product (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    provider_id uuid NOT NULL,
    product_category_id uuid NOT NULL,
    name character varying(120) NOT NULL,
    description character varying NOT NULL,
    key_benefits character varying NOT NULL,
    full_benefits json NOT NULL,
    prefix character varying(20) NOT NULL,
    route_name character varying(60) NOT NULL,
    renewable boolean NOT NULL,
    claimable boolean NOT NULL,
    inspectable boolean NOT NULL,
    certificateable boolean NOT NULL,
    is_dynamic_pricing boolean NOT NULL,
    active boolean NOT NULL,
    how_it_works character varying,
    how_to_claim character varying,
    document character varying,
    version integer NOT NULL
);

CREATE TABLE product_block (
    product_id uuid NOT NULL,
    distributor_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE product_category (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    name character varying(60) NOT NULL
);

CREATE TABLE product_version (
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    price_minor bigint NOT NULL,
    mca_commission_bp integer NOT NULL,
    distributor_commission_bp integer NOT NULL,
    cover_months integer NOT NULL,
    meta json NOT NULL,
    created_at timestamp with time zone NOT NULL,
    withdrawn_at timestamp with time zone,
    base_id uuid,
    share_id uuid,
    CONSTRAINT ck_product_version_commissions CHECK (((mca_commission_bp >= 0) AND (distributor_commission_bp >= 0) AND ((mca_commission_bp + distributor_commission_bp) <= 10000))),
    CONSTRAINT ck_product_version_price CHECK ((price_minor >= 0))
);

CREATE TABLE provider (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    segment character varying(20) NOT NULL,
    company_name character varying(100) NOT NULL,
    number_series character varying(60) NOT NULL,
    owner_id uuid,
    wallet_id uuid,
    bank_account_id uuid,
    first_name character varying NOT NULL,
    last_name character varying NOT NULL,
    email character varying NOT NULL,
    phone_number character varying NOT NULL,
    country character varying NOT NULL,
    verification_type character varying,
    verification_number character varying,
    bvn_number character varying,
    verification_images character varying,
    business_type character varying,
    claim_email character varying,
    business_email character varying,
    support_email character varying,
    sealed character varying,
    active boolean NOT NULL
);

CREATE TABLE rate_proposal (
    id uuid NOT NULL,
    product_id uuid NOT NULL,
    effective_at timestamp with time zone NOT NULL,
    price_minor bigint NOT NULL,
    mca_commission_bp integer NOT NULL,
    distributor_commission_bp integer NOT NULL,
    cover_months integer NOT NULL,
    meta json NOT NULL,
    proposed_by uuid NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    state character varying(10) NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    reason character varying,
    version_id uuid,
    CONSTRAINT ck_rate_proposal_decided CHECK ((((state)::text = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT ck_rate_proposal_state CHECK ((state IN ('open', 'confirmed', 'refused', 'withdrawn'))),
    CONSTRAINT ck_rate_proposal_two_people CHECK (((state NOT IN ('confirmed', 'refused')) OR (decided_by <> proposed_by))),
    CONSTRAINT ck_rate_proposal_version CHECK ((((state)::text = 'confirmed'::text) = (version_id IS NOT NULL)))
);

CREATE TABLE reconciliation (
    id uuid NOT NULL,
    kind character varying(7) NOT NULL,
    provider_id uuid,
    month date NOT NULL,
    file_name character varying(200) NOT NULL,
    sha256 character varying(64) NOT NULL,
    columns json NOT NULL,
    amount_is character varying(5) NOT NULL,
    tolerance_minor bigint NOT NULL,
    timing_days integer NOT NULL,
    ours_rows integer NOT NULL,
    theirs_rows integer NOT NULL,
    matched_rows integer NOT NULL,
    ours_minor bigint NOT NULL,
    theirs_minor bigint NOT NULL,
    tolerated_minor bigint NOT NULL,
    made_by uuid NOT NULL,
    made_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_reconciliation_kind CHECK ((kind IN ('insurer', 'bank'))),
    CONSTRAINT ck_reconciliation_party CHECK ((((kind)::text = 'insurer'::text) = (provider_id IS NOT NULL)))
);

CREATE TABLE redaction (
    kind character varying(20) NOT NULL,
    record_id uuid NOT NULL,
    erasure_id uuid NOT NULL,
    seal character varying(64) NOT NULL
);

CREATE TABLE reminder_opt_out (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    customer_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE renewal_call (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    policy_id uuid NOT NULL,
    expiration_at timestamp with time zone NOT NULL,
    outcome character varying(20) NOT NULL,
    note character varying(500),
    caller_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    call_again_on date,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_renewal_call_outcome CHECK ((outcome IN ('will_renew', 'thinking', 'refused', 'no_answer', 'wrong_number')))
);

CREATE TABLE renewal_reminder (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    policy_id uuid NOT NULL,
    expiration_at timestamp with time zone NOT NULL,
    days_before integer NOT NULL,
    mail_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE role_grant (
    id uuid NOT NULL,
    staff_id uuid NOT NULL,
    roles json NOT NULL,
    proposed_by uuid NOT NULL,
    proposed_at timestamp with time zone NOT NULL,
    state character varying(10) NOT NULL,
    decided_by uuid,
    decided_at timestamp with time zone,
    CONSTRAINT ck_role_grant_decided CHECK ((((state)::text = 'open'::text) = (decided_at IS NULL))),
    CONSTRAINT ck_role_grant_not_oneself CHECK ((((state)::text <> 'confirmed'::text) OR (decided_by <> staff_id))),
    CONSTRAINT ck_role_grant_state CHECK ((state IN ('open', 'confirmed', 'refused', 'withdrawn'))),
    CONSTRAINT ck_role_grant_two_people CHECK (((state NOT IN ('confirmed', 'refused')) OR (decided_by <> proposed_by)))
);

CREATE TABLE sale_draft (
    id uuid NOT NULL,
    staff_id uuid NOT NULL,
    is_live boolean NOT NULL,
    cover character varying(60) NOT NULL,
    distributor_id uuid NOT NULL,
    product_id uuid NOT NULL,
    sealed character varying NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE sales_target (
    id uuid NOT NULL,
    distributor_id uuid,
    provider_id uuid,
    month date NOT NULL,
    amount_minor bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_sales_target_amount CHECK ((amount_minor > 0)),
    CONSTRAINT ck_sales_target_one_member CHECK (((distributor_id IS NULL) <> (provider_id IS NULL)))
);

CREATE TABLE saved_view (
    id uuid NOT NULL,
    staff_id uuid NOT NULL,
    screen character varying(60) NOT NULL,
    name character varying(60) NOT NULL,
    shared_role character varying(20),
    parameters json NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE sign_in_attempt (
    email_hash character varying(64) NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamp with time zone NOT NULL
);

CREATE TABLE staff (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    email character varying(254) NOT NULL,
    name character varying(100) NOT NULL,
    roles json NOT NULL,
    password_hash character varying,
    claim_limit_minor bigint,
    disabled_at timestamp with time zone,
    link_until timestamp with time zone,
    link_by uuid,
    approves_from timestamp with time zone
);

CREATE TABLE staff_session (
    token_hash character varying(64) NOT NULL,
    staff_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE start_view (
    staff_id uuid NOT NULL,
    screen character varying(60) NOT NULL,
    view_id uuid NOT NULL
);

CREATE TABLE statement (
    id uuid NOT NULL,
    account character varying(11) NOT NULL,
    distributor_id uuid,
    provider_id uuid,
    number integer NOT NULL,
    month date NOT NULL,
    state character varying(10) NOT NULL,
    opening_minor bigint NOT NULL,
    premium_minor bigint NOT NULL,
    earned_minor bigint NOT NULL,
    clawback_minor bigint NOT NULL,
    adjusted_minor bigint NOT NULL,
    vat_minor bigint NOT NULL,
    withheld_minor bigint NOT NULL,
    paid_minor bigint NOT NULL,
    closing_minor bigint NOT NULL,
    lines integer NOT NULL,
    sha256 character varying(64) NOT NULL,
    facts json NOT NULL,
    reverses_id uuid,
    prepared_by uuid NOT NULL,
    prepared_at timestamp with time zone NOT NULL,
    approved_by uuid,
    approved_at timestamp with time zone,
    sent_by uuid,
    sent_at timestamp with time zone,
    note character varying,
    CONSTRAINT ck_statement_account CHECK ((account IN ('distributor', 'provider'))),
    CONSTRAINT ck_statement_approved CHECK (((approved_by IS NULL) = (approved_at IS NULL))),
    CONSTRAINT ck_statement_balance CHECK ((closing_minor = (((((((opening_minor + earned_minor) + clawback_minor) + adjusted_minor) + premium_minor) + vat_minor) - withheld_minor) - paid_minor))),
    CONSTRAINT ck_statement_in_two_hands CHECK (((state NOT IN ('Approved', 'Sent', 'Part paid', 'Paid')) OR (approved_by IS NOT NULL))),
    CONSTRAINT ck_statement_one_party CHECK (((((account)::text = 'distributor'::text) AND (distributor_id IS NOT NULL) AND (provider_id IS NULL)) OR (((account)::text = 'provider'::text) AND (provider_id IS NOT NULL) AND (distributor_id IS NULL)))),
    CONSTRAINT ck_statement_state CHECK ((state IN ('Prepared', 'Approved', 'Sent', 'Part paid', 'Paid', 'Disputed', 'Void'))),
    CONSTRAINT ck_statement_two_people CHECK ((approved_by <> prepared_by))
);

CREATE TABLE statement_line (
    statement_id uuid NOT NULL,
    "position" integer NOT NULL,
    account character varying(11) NOT NULL,
    movement_id uuid NOT NULL,
    product_id uuid NOT NULL,
    other_id uuid NOT NULL,
    kind character varying(12) NOT NULL,
    occurred_at timestamp with time zone NOT NULL,
    policy_number character varying(60),
    customer character varying NOT NULL,
    effective_at timestamp with time zone,
    expires_at timestamp with time zone,
    premium_minor bigint NOT NULL,
    commission_minor bigint NOT NULL,
    vat_minor bigint NOT NULL,
    withheld_minor bigint NOT NULL,
    net_minor bigint NOT NULL,
    rate_bp integer NOT NULL,
    released_by uuid
);

CREATE TABLE statement_payment (
    statement_id uuid NOT NULL,
    "position" integer NOT NULL,
    payment_id uuid NOT NULL,
    entry character varying(8) NOT NULL,
    amount_minor bigint NOT NULL,
    value_on date NOT NULL,
    reference character varying(60) NOT NULL,
    released_by uuid,
    CONSTRAINT ck_statement_payment_entry CHECK ((entry IN ('paid', 'returned')))
);

CREATE TABLE store_secret (
    id integer NOT NULL,
    mark character varying(64) NOT NULL
);

CREATE SEQUENCE store_secret_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE store_secret_id_seq OWNED BY store_secret.id;

CREATE TABLE submission (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    policy_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    state character varying(20) NOT NULL,
    attempts integer NOT NULL,
    failures integer NOT NULL,
    next_try_at timestamp with time zone,
    leased_until timestamp with time zone,
    last_error character varying,
    answer character varying(20),
    answered_at timestamp with time zone,
    insurer_number character varying(60),
    insurer_certificate_url character varying,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    trace_id character varying(32),
    CONSTRAINT ck_submission_state CHECK ((state IN ('delegated', 'queued', 'accepted', 'declined', 'dead', 'withdrawn')))
);

CREATE TABLE submission_owner (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    policy_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE tax_rate (
    id uuid NOT NULL,
    kind character varying(11) NOT NULL,
    effective_on date NOT NULL,
    resident_bp integer NOT NULL,
    non_resident_bp integer NOT NULL,
    without_tin_factor integer NOT NULL,
    small_limit_minor bigint,
    source character varying NOT NULL,
    CONSTRAINT ck_tax_rate_kind CHECK ((kind IN ('withholding', 'vat')))
);

CREATE TABLE uploaded_file (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    code character varying(32) NOT NULL,
    file_name character varying(200) NOT NULL,
    content_type character varying(40) NOT NULL,
    size integer NOT NULL,
    sha256 character varying(64) NOT NULL,
    sent_sha256 character varying(64) NOT NULL,
    claim_id uuid,
    created_at timestamp with time zone NOT NULL,
    field character varying(40)
);

CREATE TABLE view_watch (
    id uuid NOT NULL,
    view_id uuid NOT NULL,
    staff_id uuid NOT NULL,
    is_live boolean NOT NULL,
    every character varying(10),
    sent_on date,
    figure character varying(10),
    is_above boolean NOT NULL,
    bound bigint,
    is_crossed boolean NOT NULL,
    checked_at timestamp with time zone,
    last_error character varying(200),
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT ck_view_watch_every CHECK ((every IN ('day', 'week', 'month'))),
    CONSTRAINT ck_view_watch_figure CHECK ((figure IN ('rows', 'sum'))),
    CONSTRAINT ck_view_watch_warning CHECK (((figure IS NULL) = (bound IS NULL)))
);

CREATE TABLE webhook_delivery (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    state character varying(12) NOT NULL,
    attempts integer NOT NULL,
    failures integer NOT NULL,
    next_try_at timestamp with time zone,
    leased_until timestamp with time zone,
    last_error character varying,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    endpoint_id uuid NOT NULL,
    event_id uuid NOT NULL,
    event_type character varying(40) NOT NULL,
    is_replay boolean NOT NULL,
    status integer,
    delivered_at timestamp with time zone,
    CONSTRAINT ck_webhook_delivery_state CHECK ((state IN ('queued', 'held', 'sent', 'dead', 'withdrawn')))
);

CREATE TABLE webhook_endpoint (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    key_id uuid,
    url character varying(2000) NOT NULL,
    description character varying(200) NOT NULL,
    events json NOT NULL,
    format character varying(10) NOT NULL,
    signature_header character varying(64) NOT NULL,
    state character varying(12) NOT NULL,
    secret character varying NOT NULL,
    old_secret character varying,
    old_secret_until timestamp with time zone,
    failing_since timestamp with time zone,
    last_success_at timestamp with time zone,
    last_failure_at timestamp with time zone,
    last_error character varying,
    is_slow boolean NOT NULL,
    disabled_at timestamp with time zone,
    CONSTRAINT ck_webhook_endpoint_format CHECK ((format IN ('standard', 'classic'))),
    CONSTRAINT ck_webhook_endpoint_state CHECK ((state IN ('unverified', 'active', 'failing', 'disabled')))
);

CREATE TABLE webhook_try (
    distributor_id uuid NOT NULL,
    is_live boolean NOT NULL,
    id uuid NOT NULL,
    delivery_id uuid NOT NULL,
    attempt integer NOT NULL,
    started_at timestamp with time zone NOT NULL,
    milliseconds integer NOT NULL,
    status integer,
    error character varying,
    answer character varying NOT NULL
);

ALTER TABLE ONLY audit_head ALTER COLUMN chain SET DEFAULT nextval('audit_head_chain_seq'::regclass);

ALTER TABLE ONLY erasure_window ALTER COLUMN id SET DEFAULT nextval('erasure_window_id_seq'::regclass);

ALTER TABLE ONLY event_cursor ALTER COLUMN chain SET DEFAULT nextval('event_cursor_chain_seq'::regclass);

ALTER TABLE ONLY event_feed ALTER COLUMN id SET DEFAULT nextval('event_feed_id_seq'::regclass);

ALTER TABLE ONLY store_secret ALTER COLUMN id SET DEFAULT nextval('store_secret_id_seq'::regclass);

INSERT INTO audit_head VALUES
(0, 0, ''),
(1, 0, ''),
(2, 0, ''),
(3, 0, ''),
(4, 0, ''),
(5, 0, ''),
(6, 0, ''),
(7, 0, ''),
(8, 0, ''),
(9, 0, ''),
(10, 0, ''),
(11, 0, ''),
(12, 0, ''),
(13, 0, ''),
(14, 0, ''),
(15, 0, '');

INSERT INTO compliance_figure VALUES
('01900000-0000-7000-8000-000000000f00', 'acknowledge_working_days', '2023-06-12', 2, 'House rule', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f01', 'answer_days', '2023-06-12', 30, 'House rule; Nigeria Data Protection Act 2023, Part VI', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f02', 'extension_days', '2023-06-12', 30, 'House rule, once and with a reason', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f03', 'person_months', '2023-06-12', 60, 'Money Laundering (Prevention and Prohibition) Act 2022: five years after the relationship', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f04', 'lead_months', '2023-06-12', 6, 'House rule; Nigeria Data Protection Act 2023, section 24 (storage limitation)', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f05', 'session_days', '2023-06-12', 90, 'House rule', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f06', 'delivery_log_days', '2023-06-12', 90, 'House rule', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f07', 'breach_hours', '2023-06-12', 72, 'Nigeria Data Protection Act 2023, section 40', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f08', 'data_protection_month_day', '2023-06-12', 331, 'General Application and Implementation Directive 2025', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f09', 'brokerage_days', '2023-06-12', 30, 'House rule: days after the end of the quarter', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f0a', 'client_account_days', '2023-06-12', 30, 'House rule: days after the end of the quarter', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f0b', 'bordereaux_days', '2023-06-12', 10, 'House rule: days after the end of the month', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f0c', 'premium_notice_hours', '2023-06-12', 48, 'House rule: hours from the sale to the insurer''s notice', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f0d', 'premium_placed_days', '2023-06-12', 14, 'House rule: days from the sale to the policy', NULL, '2023-06-12 00:00:00+00'),
('01900000-0000-7000-8000-000000000f0e', 'complaint_days', '2023-06-12', 14, 'House rule', NULL, '2023-06-12 00:00:00+00');

INSERT INTO event_cursor VALUES
(0, 0),
(1, 0),
(2, 0),
(3, 0),
(4, 0),
(5, 0),
(6, 0),
(7, 0),
(8, 0),
(9, 0),
(10, 0),
(11, 0),
(12, 0),
(13, 0),
(14, 0),
(15, 0);

INSERT INTO event_feed VALUES
(1, 0, NULL);

INSERT INTO tax_rate VALUES
('01900000-0000-7000-8000-0000000f0001', 'vat', '2020-02-01', 750, 750, 1, NULL, 'Finance Act 2019, section 34: 7.5 %'),
('01900000-0000-7000-8000-0000000f0002', 'withholding', '2025-01-01', 500, 1000, 2, 200000000, 'Deduction of Tax at Source (Withholding) Regulations 2024: commission 5 %, non-residents 10 %, doubled without a tax number, a small company free up to 2,000,000 naira a month');

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT pk_adjustment PRIMARY KEY (id);

ALTER TABLE ONLY adjustment_proposal
    ADD CONSTRAINT pk_adjustment_proposal PRIMARY KEY (id);

ALTER TABLE ONLY agreement
    ADD CONSTRAINT pk_agreement PRIMARY KEY (id);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT pk_api_key PRIMARY KEY (id);

ALTER TABLE ONLY audit_entry
    ADD CONSTRAINT pk_audit_entry PRIMARY KEY (id);

ALTER TABLE ONLY audit_head
    ADD CONSTRAINT pk_audit_head PRIMARY KEY (chain);

ALTER TABLE ONLY automation
    ADD CONSTRAINT pk_automation PRIMARY KEY (name);

ALTER TABLE ONLY bank_account
    ADD CONSTRAINT pk_bank_account PRIMARY KEY (id);

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT pk_bordereau PRIMARY KEY (id);

ALTER TABLE ONLY bordereau_line
    ADD CONSTRAINT pk_bordereau_line PRIMARY KEY (bordereau_id, "position");

ALTER TABLE ONLY breach
    ADD CONSTRAINT pk_breach PRIMARY KEY (id);

ALTER TABLE ONLY certificate
    ADD CONSTRAINT pk_certificate PRIMARY KEY (code);

ALTER TABLE ONLY claim
    ADD CONSTRAINT pk_claim PRIMARY KEY (id);

ALTER TABLE ONLY claim_comment
    ADD CONSTRAINT pk_claim_comment PRIMARY KEY (id);

ALTER TABLE ONLY claim_event
    ADD CONSTRAINT pk_claim_event PRIMARY KEY (id);

ALTER TABLE ONLY claim_letter_sent
    ADD CONSTRAINT pk_claim_letter_sent PRIMARY KEY (code);

ALTER TABLE ONLY claim_override
    ADD CONSTRAINT pk_claim_override PRIMARY KEY (id);

ALTER TABLE ONLY claim_payee
    ADD CONSTRAINT pk_claim_payee PRIMARY KEY (id);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT pk_claim_payment PRIMARY KEY (id);

ALTER TABLE ONLY claim_payment_file
    ADD CONSTRAINT pk_claim_payment_file PRIMARY KEY (id);

ALTER TABLE ONLY claim_question
    ADD CONSTRAINT pk_claim_question PRIMARY KEY (id);

ALTER TABLE ONLY claim_referral
    ADD CONSTRAINT pk_claim_referral PRIMARY KEY (id);

ALTER TABLE ONLY claim_reserve
    ADD CONSTRAINT pk_claim_reserve PRIMARY KEY (id);

ALTER TABLE ONLY claim_task
    ADD CONSTRAINT pk_claim_task PRIMARY KEY (id);

ALTER TABLE ONLY claim_total
    ADD CONSTRAINT pk_claim_total PRIMARY KEY (is_live, claim_status, assigned_to, clock_day, part);

ALTER TABLE ONLY commission_share
    ADD CONSTRAINT pk_commission_share PRIMARY KEY (id);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT pk_complaint PRIMARY KEY (id);

ALTER TABLE ONLY compliance_figure
    ADD CONSTRAINT pk_compliance_figure PRIMARY KEY (id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT pk_credit_note PRIMARY KEY (id);

ALTER TABLE ONLY customer
    ADD CONSTRAINT pk_customer PRIMARY KEY (id);

ALTER TABLE ONLY customer_merge
    ADD CONSTRAINT pk_customer_merge PRIMARY KEY (merged_id);

ALTER TABLE ONLY customer_note
    ADD CONSTRAINT pk_customer_note PRIMARY KEY (id);

ALTER TABLE ONLY data_request
    ADD CONSTRAINT pk_data_request PRIMARY KEY (id);

ALTER TABLE ONLY day_total
    ADD CONSTRAINT pk_day_total PRIMARY KEY (is_live, day, part);

ALTER TABLE ONLY daybook_line
    ADD CONSTRAINT pk_daybook_line PRIMARY KEY (is_live, grain, day, product_id, distributor_id, premium_frequency, part);

ALTER TABLE ONLY difference
    ADD CONSTRAINT pk_difference PRIMARY KEY (id);

ALTER TABLE ONLY distributor
    ADD CONSTRAINT pk_distributor PRIMARY KEY (id);

ALTER TABLE ONLY endorsement_notice
    ADD CONSTRAINT pk_endorsement_notice PRIMARY KEY (endorsement_id);

ALTER TABLE ONLY erasure
    ADD CONSTRAINT pk_erasure PRIMARY KEY (id);

ALTER TABLE ONLY erasure_window
    ADD CONSTRAINT pk_erasure_window PRIMARY KEY (id);

ALTER TABLE ONLY event
    ADD CONSTRAINT pk_event PRIMARY KEY (id);

ALTER TABLE ONLY event_cursor
    ADD CONSTRAINT pk_event_cursor PRIMARY KEY (chain);

ALTER TABLE ONLY event_feed
    ADD CONSTRAINT pk_event_feed PRIMARY KEY (id);

ALTER TABLE ONLY export_receipt
    ADD CONSTRAINT pk_export_receipt PRIMARY KEY (id);

ALTER TABLE ONLY file_mapping
    ADD CONSTRAINT pk_file_mapping PRIMARY KEY (key);

ALTER TABLE ONLY filing
    ADD CONSTRAINT pk_filing PRIMARY KEY (id);

ALTER TABLE ONLY heartbeat
    ADD CONSTRAINT pk_heartbeat PRIMARY KEY (name);

ALTER TABLE ONLY inspection
    ADD CONSTRAINT pk_inspection PRIMARY KEY (id);

ALTER TABLE ONLY insured_risk
    ADD CONSTRAINT pk_insured_risk PRIMARY KEY (product_id, risk_hash);

ALTER TABLE ONLY insurer_connection
    ADD CONSTRAINT pk_insurer_connection PRIMARY KEY (provider_id);

ALTER TABLE ONLY kept_answer
    ADD CONSTRAINT pk_kept_answer PRIMARY KEY (distributor_id, is_live, key);

ALTER TABLE ONLY legal_hold
    ADD CONSTRAINT pk_legal_hold PRIMARY KEY (id);

ALTER TABLE ONLY mail
    ADD CONSTRAINT pk_mail PRIMARY KEY (id);

ALTER TABLE ONLY mail_text
    ADD CONSTRAINT pk_mail_text PRIMARY KEY (name);

ALTER TABLE ONLY month_step
    ADD CONSTRAINT pk_month_step PRIMARY KEY (id);

ALTER TABLE ONLY number_counter
    ADD CONSTRAINT pk_number_counter PRIMARY KEY (series);

ALTER TABLE ONLY one_time_ticket
    ADD CONSTRAINT pk_one_time_ticket PRIMARY KEY (ticket_hash);

ALTER TABLE ONLY payment
    ADD CONSTRAINT pk_payment PRIMARY KEY (id);

ALTER TABLE ONLY payment_settlement
    ADD CONSTRAINT pk_payment_settlement PRIMARY KEY (payment_id, statement_id);

ALTER TABLE ONLY payout_batch
    ADD CONSTRAINT pk_payout_batch PRIMARY KEY (id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT pk_policy PRIMARY KEY (id);

ALTER TABLE ONLY policy_endorsement
    ADD CONSTRAINT pk_policy_endorsement PRIMARY KEY (id);

ALTER TABLE ONLY product
    ADD CONSTRAINT pk_product PRIMARY KEY (id);

ALTER TABLE ONLY product_block
    ADD CONSTRAINT pk_product_block PRIMARY KEY (product_id, distributor_id);

ALTER TABLE ONLY product_category
    ADD CONSTRAINT pk_product_category PRIMARY KEY (id);

ALTER TABLE ONLY product_version
    ADD CONSTRAINT pk_product_version PRIMARY KEY (id);

ALTER TABLE ONLY provider
    ADD CONSTRAINT pk_provider PRIMARY KEY (id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT pk_purchase PRIMARY KEY (id);

ALTER TABLE ONLY rate_proposal
    ADD CONSTRAINT pk_rate_proposal PRIMARY KEY (id);

ALTER TABLE ONLY reconciliation
    ADD CONSTRAINT pk_reconciliation PRIMARY KEY (id);

ALTER TABLE ONLY redaction
    ADD CONSTRAINT pk_redaction PRIMARY KEY (kind, record_id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT pk_refund PRIMARY KEY (id);

ALTER TABLE ONLY reminder_opt_out
    ADD CONSTRAINT pk_reminder_opt_out PRIMARY KEY (customer_id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT pk_renewal PRIMARY KEY (id);

ALTER TABLE ONLY renewal_call
    ADD CONSTRAINT pk_renewal_call PRIMARY KEY (id);

ALTER TABLE ONLY renewal_reminder
    ADD CONSTRAINT pk_renewal_reminder PRIMARY KEY (id);

ALTER TABLE ONLY role_grant
    ADD CONSTRAINT pk_role_grant PRIMARY KEY (id);

ALTER TABLE ONLY sale_draft
    ADD CONSTRAINT pk_sale_draft PRIMARY KEY (id);

ALTER TABLE ONLY sales_target
    ADD CONSTRAINT pk_sales_target PRIMARY KEY (id);

ALTER TABLE ONLY saved_view
    ADD CONSTRAINT pk_saved_view PRIMARY KEY (id);

ALTER TABLE ONLY sign_in_attempt
    ADD CONSTRAINT pk_sign_in_attempt PRIMARY KEY (email_hash);

ALTER TABLE ONLY staff
    ADD CONSTRAINT pk_staff PRIMARY KEY (id);

ALTER TABLE ONLY staff_session
    ADD CONSTRAINT pk_staff_session PRIMARY KEY (token_hash);

ALTER TABLE ONLY start_view
    ADD CONSTRAINT pk_start_view PRIMARY KEY (staff_id, screen);

ALTER TABLE ONLY statement
    ADD CONSTRAINT pk_statement PRIMARY KEY (id);

ALTER TABLE ONLY statement_line
    ADD CONSTRAINT pk_statement_line PRIMARY KEY (statement_id, "position");

ALTER TABLE ONLY statement_payment
    ADD CONSTRAINT pk_statement_payment PRIMARY KEY (statement_id, "position");

ALTER TABLE ONLY store_secret
    ADD CONSTRAINT pk_store_secret PRIMARY KEY (id);

ALTER TABLE ONLY submission
    ADD CONSTRAINT pk_submission PRIMARY KEY (policy_id);

ALTER TABLE ONLY submission_owner
    ADD CONSTRAINT pk_submission_owner PRIMARY KEY (policy_id);

ALTER TABLE ONLY tax_rate
    ADD CONSTRAINT pk_tax_rate PRIMARY KEY (id);

ALTER TABLE ONLY uploaded_file
    ADD CONSTRAINT pk_uploaded_file PRIMARY KEY (code);

ALTER TABLE ONLY view_watch
    ADD CONSTRAINT pk_view_watch PRIMARY KEY (id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT pk_webhook_delivery PRIMARY KEY (id);

ALTER TABLE ONLY webhook_endpoint
    ADD CONSTRAINT pk_webhook_endpoint PRIMARY KEY (id);

ALTER TABLE ONLY webhook_try
    ADD CONSTRAINT pk_webhook_try PRIMARY KEY (id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT uq_adjustment_proposal_id UNIQUE (proposal_id);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT uq_api_key_key_hash UNIQUE (key_hash);

ALTER TABLE ONLY audit_entry
    ADD CONSTRAINT uq_audit_entry_chain_position UNIQUE (chain, "position");

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT uq_bordereau_provider_id_kind_month UNIQUE (provider_id, kind, month);

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT uq_bordereau_provider_id_kind_number UNIQUE (provider_id, kind, number);

ALTER TABLE ONLY breach
    ADD CONSTRAINT uq_breach_number UNIQUE (number);

ALTER TABLE ONLY claim_payment_file
    ADD CONSTRAINT uq_claim_payment_file_is_live_sha256 UNIQUE (is_live, sha256);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT uq_claim_payment_provider_id_is_live_reference_key UNIQUE (provider_id, is_live, reference_key);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT uq_claim_payment_reverses UNIQUE (reverses);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT uq_complaint_number UNIQUE (number);

ALTER TABLE ONLY compliance_figure
    ADD CONSTRAINT uq_compliance_figure_name_effective_on UNIQUE (name, effective_on);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT uq_credit_note_is_live_reference_key UNIQUE (is_live, reference_key);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT uq_credit_note_provider_id_is_live_number UNIQUE (provider_id, is_live, number);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT uq_credit_note_refund_id UNIQUE (refund_id);

ALTER TABLE ONLY customer
    ADD CONSTRAINT uq_customer_distributor_id_is_live_email_key UNIQUE (distributor_id, is_live, email_key);

ALTER TABLE ONLY data_request
    ADD CONSTRAINT uq_data_request_number UNIQUE (number);

ALTER TABLE ONLY distributor
    ADD CONSTRAINT uq_distributor_business_name UNIQUE (business_name);

ALTER TABLE ONLY erasure
    ADD CONSTRAINT uq_erasure_number UNIQUE (number);

ALTER TABLE ONLY event
    ADD CONSTRAINT uq_event_object_id_object_type_sequence UNIQUE (object_id, object_type, sequence);

ALTER TABLE ONLY event
    ADD CONSTRAINT uq_event_origin UNIQUE (origin);

ALTER TABLE ONLY event
    ADD CONSTRAINT uq_event_position UNIQUE ("position");

ALTER TABLE ONLY filing
    ADD CONSTRAINT uq_filing_kind_period_ends_on UNIQUE (kind, period_ends_on);

ALTER TABLE ONLY month_step
    ADD CONSTRAINT uq_month_step_month_position UNIQUE (month, "position");

ALTER TABLE ONLY payout_batch
    ADD CONSTRAINT uq_payout_batch_number UNIQUE (number);

ALTER TABLE ONLY policy_endorsement
    ADD CONSTRAINT uq_policy_endorsement_policy_id_number UNIQUE (policy_id, number);

ALTER TABLE ONLY policy
    ADD CONSTRAINT uq_policy_provider_id_number_key UNIQUE (provider_id, number_key);

ALTER TABLE ONLY policy
    ADD CONSTRAINT uq_policy_purchase_id UNIQUE (purchase_id);

ALTER TABLE ONLY product_category
    ADD CONSTRAINT uq_product_category_name UNIQUE (name);

ALTER TABLE ONLY provider
    ADD CONSTRAINT uq_provider_segment UNIQUE (segment);

ALTER TABLE ONLY reconciliation
    ADD CONSTRAINT uq_reconciliation_sha256_month_kind_provider_id UNIQUE (sha256, month, kind, provider_id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT uq_renewal_policy_id_previous_expiration_at UNIQUE (policy_id, previous_expiration_at);

ALTER TABLE ONLY renewal_reminder
    ADD CONSTRAINT uq_renewal_reminder_policy_id_expiration_at_days_before UNIQUE (policy_id, expiration_at, days_before);

ALTER TABLE ONLY sale_draft
    ADD CONSTRAINT uq_sale_draft_staff_id_is_live_cover UNIQUE (staff_id, is_live, cover);

ALTER TABLE ONLY sales_target
    ADD CONSTRAINT uq_sales_target_distributor_id_month UNIQUE (distributor_id, month);

ALTER TABLE ONLY sales_target
    ADD CONSTRAINT uq_sales_target_provider_id_month UNIQUE (provider_id, month);

ALTER TABLE ONLY saved_view
    ADD CONSTRAINT uq_saved_view_staff_id_screen_name UNIQUE (staff_id, screen, name);

ALTER TABLE ONLY staff
    ADD CONSTRAINT uq_staff_email UNIQUE (email);

ALTER TABLE ONLY tax_rate
    ADD CONSTRAINT uq_tax_rate_kind_effective_on UNIQUE (kind, effective_on);

ALTER TABLE ONLY view_watch
    ADD CONSTRAINT uq_view_watch_view_id_staff_id UNIQUE (view_id, staff_id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT uq_webhook_delivery_endpoint_id_event_id UNIQUE (endpoint_id, event_id);

CREATE INDEX ix_adjustment_corrects_id ON adjustment USING btree (corrects_id);

CREATE INDEX ix_adjustment_is_live_created_at_id ON adjustment USING btree (is_live, created_at, id);

CREATE INDEX ix_adjustment_proposal_open ON adjustment_proposal USING btree (is_live, state, proposed_at);

CREATE INDEX ix_agreement_of_distributor ON agreement USING btree (distributor_id, starts_on);

CREATE INDEX ix_agreement_of_provider ON agreement USING btree (provider_id, starts_on);

CREATE INDEX ix_api_key_distributor_id ON api_key USING btree (distributor_id);

CREATE INDEX ix_audit_entry_action_created_at ON audit_entry USING btree (action, created_at);

CREATE INDEX ix_audit_entry_actor_created_at ON audit_entry USING btree (actor, created_at);

CREATE INDEX ix_audit_entry_created_at_id ON audit_entry USING btree (created_at, id);

CREATE INDEX ix_audit_entry_subject_created_at ON audit_entry USING btree (subject, created_at);

CREATE INDEX ix_bank_account_of_distributor ON bank_account USING btree (distributor_id, state);

CREATE INDEX ix_bank_account_of_provider ON bank_account USING btree (provider_id, state);

CREATE UNIQUE INDEX ix_bordereau_line_of_movement ON bordereau_line USING btree (subject_id) WHERE ((kind)::text = 'premium'::text);

CREATE INDEX ix_bordereau_line_subject_id_kind ON bordereau_line USING btree (subject_id, kind);

CREATE INDEX ix_bordereau_month ON bordereau USING btree (month);

CREATE INDEX ix_breach_known_at ON breach USING btree (known_at);

CREATE INDEX ix_certificate_policy_id ON certificate USING btree (policy_id);

CREATE INDEX ix_claim_account_key ON claim USING btree (account_key);

CREATE INDEX ix_claim_claim_owner_email ON claim USING btree (claim_owner_email);

CREATE INDEX ix_claim_claim_owner_phone_number ON claim USING btree (claim_owner_phone_number);

CREATE INDEX ix_claim_comment_claim_id ON claim_comment USING btree (claim_id);

CREATE INDEX ix_claim_customer_id_created_at ON claim USING btree (customer_id, created_at);

CREATE INDEX ix_claim_distributor_id_is_live_created_at_id ON claim USING btree (distributor_id, is_live, created_at, id);

CREATE INDEX ix_claim_event_claim_id ON claim_event USING btree (claim_id);

CREATE INDEX ix_claim_event_is_live_status_created_at_claim_id ON claim_event USING btree (is_live, status, created_at, claim_id);

CREATE INDEX ix_claim_is_live_claim_amount_minor_id ON claim USING btree (is_live, claim_amount_minor, id);

CREATE INDEX ix_claim_is_live_claim_status_created_at ON claim USING btree (is_live, claim_status, created_at);

CREATE INDEX ix_claim_is_live_created_at_id ON claim USING btree (is_live, created_at, id);

CREATE INDEX ix_claim_is_live_offer_amount_minor_id ON claim USING btree (is_live, offer_amount_minor, id);

CREATE INDEX ix_claim_is_live_updated_at ON claim USING btree (is_live, updated_at);

CREATE INDEX ix_claim_letter_sent_claim_id ON claim_letter_sent USING btree (claim_id);

CREATE INDEX ix_claim_of_claimant ON claim USING btree (is_live, claim_owner_name_key, claim_owner_email, id, deleted_at);

CREATE INDEX ix_claim_override_claim_id ON claim_override USING btree (claim_id);

CREATE INDEX ix_claim_override_is_live_created_at_claim_id ON claim_override USING btree (is_live, created_at, claim_id);

CREATE INDEX ix_claim_payee_claim_id ON claim_payee USING btree (claim_id);

CREATE INDEX ix_claim_payment_claim_id ON claim_payment USING btree (claim_id);

CREATE INDEX ix_claim_payment_file_is_live_paid_at ON claim_payment_file USING btree (is_live, paid_at);

CREATE INDEX ix_claim_payment_is_live_created_at_claim_id ON claim_payment USING btree (is_live, created_at, claim_id);

CREATE INDEX ix_claim_payment_reference_key ON claim_payment USING btree (reference_key);

CREATE INDEX ix_claim_policy_id ON claim USING btree (policy_id);

CREATE INDEX ix_claim_question_claim_id ON claim_question USING btree (claim_id);

CREATE INDEX ix_claim_queue ON claim USING btree (is_live, clock_stopped_at, clock_from, id, claim_status, assigned_to, deleted_at, updated_at, created_at, claim_amount_minor, offer_amount_minor);

CREATE INDEX ix_claim_reference ON claim USING btree (is_live, "right"((id)::text, 8));

CREATE INDEX ix_claim_referral_claim_id ON claim_referral USING btree (claim_id);

CREATE INDEX ix_claim_referral_closed_at_claim_id ON claim_referral USING btree (closed_at, claim_id);

CREATE INDEX ix_claim_reserve_claim_id ON claim_reserve USING btree (claim_id);

CREATE INDEX ix_claim_reserve_is_live_created_at_claim_id ON claim_reserve USING btree (is_live, created_at, claim_id);

CREATE INDEX ix_claim_task_assigned_to_done_at ON claim_task USING btree (assigned_to, done_at);

CREATE INDEX ix_claim_task_claim_id ON claim_task USING btree (claim_id);

CREATE INDEX ix_claim_unsettled ON claim USING btree (is_live, clock_stopped_at, clock_from, id, claim_status, assigned_to, deleted_at, claim_amount_minor, offer_amount_minor) WHERE (claim_status NOT IN ('Declined', 'Settled'));

CREATE INDEX ix_commission_share_in_force ON commission_share USING btree (distributor_id, product_id, effective_at);

CREATE UNIQUE INDEX ix_commission_share_open ON commission_share USING btree (distributor_id) WHERE ((state)::text = 'open'::text);

CREATE INDEX ix_complaint_answered_at_due_on ON complaint USING btree (answered_at, due_on);

CREATE INDEX ix_complaint_customer_id ON complaint USING btree (customer_id);

CREATE INDEX ix_complaint_provider_id_received_at ON complaint USING btree (provider_id, received_at);

CREATE INDEX ix_credit_note_is_live_created_at_id ON credit_note USING btree (is_live, created_at, id);

CREATE INDEX ix_credit_note_is_live_state_created_at ON credit_note USING btree (is_live, state, created_at);

CREATE INDEX ix_customer_email_key ON customer USING btree (email_key);

CREATE INDEX ix_customer_merge_kept_id ON customer_merge USING btree (kept_id);

CREATE INDEX ix_customer_note_customer_id_created_at ON customer_note USING btree (customer_id, created_at);

CREATE INDEX ix_customer_of_distributor ON customer USING btree (distributor_id, is_live, created_at, id, deleted_at, active, name_key, email_key, phone_number);

CREATE INDEX ix_customer_search ON customer USING btree (is_live, created_at, id, deleted_at, name_key, email_key, phone_number, distributor_id);

CREATE INDEX ix_data_request_state_due_on ON data_request USING btree (state, due_on);

CREATE INDEX ix_data_request_subject_key ON data_request USING btree (subject_key);

CREATE INDEX ix_daybook_line_of_distributor ON daybook_line USING btree (distributor_id, is_live, grain, day, sold);

CREATE INDEX ix_difference_reconciliation_id_state ON difference USING btree (reconciliation_id, state);

CREATE INDEX ix_endorsement_notice_policy_id ON endorsement_notice USING btree (policy_id);

CREATE INDEX ix_erasure_state_prepared_at ON erasure USING btree (state, prepared_at);

CREATE INDEX ix_event_created_at ON event USING btree (created_at);

CREATE INDEX ix_event_feed ON event USING btree (distributor_id, is_live, "position");

CREATE INDEX ix_export_receipt_created_at ON export_receipt USING btree (created_at);

CREATE INDEX ix_kept_answer_created_at ON kept_answer USING btree (created_at);

CREATE INDEX ix_legal_hold_customer_id_lifted_at ON legal_hold USING btree (customer_id, lifted_at);

CREATE INDEX ix_mail_about_created_at ON mail USING btree (about, created_at);

CREATE INDEX ix_mail_created_at ON mail USING btree (created_at);

CREATE INDEX ix_mail_due ON mail USING btree (state, next_try_at, leased_until);

CREATE INDEX ix_payment_batch_id ON payment USING btree (batch_id);

CREATE UNIQUE INDEX ix_payment_open_of_distributor ON payment USING btree (distributor_id) WHERE ((distributor_id IS NOT NULL) AND (state IN ('Prepared', 'Approved')));

CREATE UNIQUE INDEX ix_payment_open_of_provider ON payment USING btree (provider_id) WHERE ((provider_id IS NOT NULL) AND (state IN ('Prepared', 'Approved')));

CREATE INDEX ix_payment_prepared_at ON payment USING btree (prepared_at);

CREATE UNIQUE INDEX ix_payment_reference_of_distributor ON payment USING btree (distributor_id, direction, reference_key) WHERE ((distributor_id IS NOT NULL) AND (reference_key IS NOT NULL) AND ((state)::text <> 'Withdrawn'::text));

CREATE UNIQUE INDEX ix_payment_reference_of_provider ON payment USING btree (provider_id, direction, reference_key) WHERE ((provider_id IS NOT NULL) AND (reference_key IS NOT NULL) AND ((state)::text <> 'Withdrawn'::text));

CREATE INDEX ix_payment_settlement_statement_id ON payment_settlement USING btree (statement_id);

CREATE INDEX ix_policy_email ON policy USING btree (email);

CREATE INDEX ix_policy_endorsement_is_live_created_at ON policy_endorsement USING btree (is_live, created_at);

CREATE INDEX ix_policy_in_force ON policy USING btree (is_live, expiration_at, created_at, activated, cancelled_at, declined_at, deleted_at, product_id, distributor_id, genius_price_minor, id);

CREATE INDEX ix_policy_is_live_created_at_id ON policy USING btree (is_live, created_at, id);

CREATE INDEX ix_policy_number_key ON policy USING btree (number_key);

CREATE INDEX ix_policy_of_customer ON policy USING btree (customer_id, created_at, is_live, expiration_at, activated, cancelled_at, declined_at, deleted_at);

CREATE INDEX ix_policy_of_distributor ON policy USING btree (distributor_id, is_live, created_at, id, activated, cancelled_at, declined_at, deleted_at, expiration_at);

CREATE INDEX ix_policy_phone ON policy USING btree (phone);

CREATE INDEX ix_policy_plate_key ON policy USING btree (plate_key);

CREATE INDEX ix_policy_product_id_risk_hash ON policy USING btree (product_id, risk_hash);

CREATE INDEX ix_policy_unusual ON policy USING btree (is_live, created_at) WHERE ((NOT activated) OR (cancelled_at IS NOT NULL) OR (declined_at IS NOT NULL));

CREATE INDEX ix_product_product_category_id ON product USING btree (product_category_id);

CREATE INDEX ix_product_provider_id ON product USING btree (provider_id);

CREATE UNIQUE INDEX ix_product_version_in_force ON product_version USING btree (product_id, effective_at) WHERE ((withdrawn_at IS NULL) AND (share_id IS NULL));

CREATE UNIQUE INDEX ix_product_version_of_share ON product_version USING btree (base_id, share_id);

CREATE INDEX ix_purchase_customer_id_created_at ON purchase USING btree (customer_id, created_at);

CREATE INDEX ix_purchase_distributor_id_is_live_created_at_id_deleted_at ON purchase USING btree (distributor_id, is_live, created_at, id, deleted_at);

CREATE INDEX ix_purchase_is_live_created_at_id_deleted_at_total_minor ON purchase USING btree (is_live, created_at, id, deleted_at, total_minor);

CREATE UNIQUE INDEX ix_rate_proposal_open ON rate_proposal USING btree (product_id) WHERE ((state)::text = 'open'::text);

CREATE INDEX ix_reconciliation_month ON reconciliation USING btree (month);

CREATE INDEX ix_refund_is_live_created_at_id ON refund USING btree (is_live, created_at, id);

CREATE UNIQUE INDEX ix_refund_of_purchase ON refund USING btree (purchase_id) WHERE (renewal_id IS NULL);

CREATE UNIQUE INDEX ix_refund_of_renewal ON refund USING btree (renewal_id) WHERE (renewal_id IS NOT NULL);

CREATE INDEX ix_refund_policy_id ON refund USING btree (policy_id);

CREATE INDEX ix_renewal_call_is_live_created_at ON renewal_call USING btree (is_live, created_at);

CREATE INDEX ix_renewal_call_policy_id_expiration_at_created_at ON renewal_call USING btree (policy_id, expiration_at, created_at);

CREATE INDEX ix_renewal_customer_id_created_at ON renewal USING btree (customer_id, created_at);

CREATE INDEX ix_renewal_failed ON renewal USING btree (is_live, created_at) WHERE (status IS FALSE);

CREATE INDEX ix_renewal_is_live_created_at_id ON renewal USING btree (is_live, created_at, id);

CREATE INDEX ix_renewal_of_distributor ON renewal USING btree (distributor_id, is_live, created_at, id, deleted_at, status);

CREATE INDEX ix_renewal_terms ON renewal USING btree (is_live, previous_expiration_at, start_at, status, deleted_at, product_id, distributor_id);

CREATE UNIQUE INDEX ix_role_grant_open ON role_grant USING btree (staff_id) WHERE ((state)::text = 'open'::text);

CREATE INDEX ix_role_grant_staff_id ON role_grant USING btree (staff_id);

CREATE INDEX ix_saved_view_screen_shared_role ON saved_view USING btree (screen, shared_role);

CREATE INDEX ix_staff_session_staff_id_created_at ON staff_session USING btree (staff_id, created_at);

CREATE INDEX ix_start_view_view_id ON start_view USING btree (view_id);

CREATE UNIQUE INDEX ix_statement_line_of_movement ON statement_line USING btree (movement_id, account) WHERE (released_by IS NULL);

CREATE INDEX ix_statement_month_account ON statement USING btree (month, account);

CREATE UNIQUE INDEX ix_statement_month_of_distributor ON statement USING btree (distributor_id, month) WHERE ((distributor_id IS NOT NULL) AND ((state)::text <> 'Void'::text) AND (reverses_id IS NULL));

CREATE UNIQUE INDEX ix_statement_month_of_provider ON statement USING btree (provider_id, month) WHERE ((provider_id IS NOT NULL) AND ((state)::text <> 'Void'::text) AND (reverses_id IS NULL));

CREATE UNIQUE INDEX ix_statement_number_of_distributor ON statement USING btree (distributor_id, number) WHERE ((distributor_id IS NOT NULL) AND (number > 0));

CREATE UNIQUE INDEX ix_statement_number_of_provider ON statement USING btree (provider_id, number) WHERE ((provider_id IS NOT NULL) AND (number > 0));

CREATE UNIQUE INDEX ix_statement_payment_of_payment ON statement_payment USING btree (payment_id, entry) WHERE (released_by IS NULL);

CREATE UNIQUE INDEX ix_statement_reversal ON statement USING btree (reverses_id) WHERE ((reverses_id IS NOT NULL) AND ((state)::text <> 'Void'::text));

CREATE INDEX ix_submission_due ON submission USING btree (state, provider_id, next_try_at, leased_until);

CREATE INDEX ix_submission_owner_owner_id ON submission_owner USING btree (owner_id);

CREATE INDEX ix_submission_waiting ON submission USING btree (is_live, state, provider_id, created_at);

CREATE INDEX ix_uploaded_file_claim_id ON uploaded_file USING btree (claim_id);

CREATE INDEX ix_uploaded_file_sent_sha256 ON uploaded_file USING btree (sent_sha256);

CREATE INDEX ix_view_watch_staff_id ON view_watch USING btree (staff_id);

CREATE INDEX ix_webhook_delivery_due ON webhook_delivery USING btree (state, endpoint_id, next_try_at, leased_until);

CREATE INDEX ix_webhook_delivery_event_id ON webhook_delivery USING btree (event_id);

CREATE INDEX ix_webhook_delivery_log ON webhook_delivery USING btree (endpoint_id, created_at, id);

CREATE INDEX ix_webhook_endpoint_distributor_id_is_live ON webhook_endpoint USING btree (distributor_id, is_live);

CREATE INDEX ix_webhook_try_delivery_id_started_at ON webhook_try USING btree (delivery_id, started_at);

CREATE INDEX ix_webhook_try_started_at ON webhook_try USING btree (started_at);

CREATE TRIGGER adjustment_delete BEFORE DELETE ON adjustment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER adjustment_proposal_decision BEFORE UPDATE OF state, decided_by, decided_at ON adjustment_proposal FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER adjustment_proposal_delete BEFORE DELETE ON adjustment_proposal FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER adjustment_proposal_figures BEFORE UPDATE OF id, distributor_id, is_live, total_minor, mca_profit_minor, distributor_profit_minor, corrects_kind, corrects_id, proposed_by, proposed_at ON adjustment_proposal FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER adjustment_proposal_refusal BEFORE UPDATE OF refusal ON adjustment_proposal FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER adjustment_proposal_texts BEFORE UPDATE OF reason ON adjustment_proposal FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER adjustment_proposal_truncate BEFORE TRUNCATE ON adjustment_proposal FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER adjustment_texts BEFORE UPDATE OF reason ON adjustment FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER adjustment_truncate BEFORE TRUNCATE ON adjustment FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER adjustment_update BEFORE UPDATE OF id, distributor_id, is_live, total_minor, mca_profit_minor, distributor_profit_minor, corrects_kind, corrects_id, proposed_by, proposal_id, policy_id, purchase_id, customer_id, product_id, product_version_id, product_category_id, provider_id, approved_by, renewal_id, created_at ON adjustment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER agreement_delete BEFORE DELETE ON agreement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER agreement_truncate BEFORE TRUNCATE ON agreement FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER agreement_update BEFORE UPDATE ON agreement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER audit_entry_delete BEFORE DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER audit_entry_texts BEFORE UPDATE OF before, after ON audit_entry FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER audit_entry_truncate BEFORE TRUNCATE ON audit_entry FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER audit_entry_update BEFORE UPDATE OF id, chain, "position", actor, action, subject, created_at, hash, trace_id ON audit_entry FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bank_account_decision BEFORE UPDATE OF state, decided_by, decided_at, usable_from ON bank_account FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bank_account_delete BEFORE DELETE ON bank_account FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bank_account_figures BEFORE UPDATE OF id, account, distributor_id, provider_id, bank_name, account_name, hint, proposed_by, proposed_at ON bank_account FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bank_account_truncate BEFORE TRUNCATE ON bank_account FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bordereau_delete BEFORE DELETE ON bordereau FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bordereau_figures BEFORE UPDATE OF id, provider_id, kind, number, month, rows, totals, sha256, facts, issued_by, issued_at ON bordereau FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bordereau_line_delete BEFORE DELETE ON bordereau_line FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bordereau_line_texts BEFORE UPDATE OF cells ON bordereau_line FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER bordereau_line_truncate BEFORE TRUNCATE ON bordereau_line FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bordereau_line_update BEFORE UPDATE OF bordereau_id, "position", kind, subject_id, amount_minor ON bordereau_line FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER bordereau_truncate BEFORE TRUNCATE ON bordereau FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_event_delete BEFORE DELETE ON claim_event FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_event_texts BEFORE UPDATE OF note ON claim_event FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER claim_event_truncate BEFORE TRUNCATE ON claim_event FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_event_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, status, staff_id, created_at ON claim_event FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_override_delete BEFORE DELETE ON claim_override FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_override_texts BEFORE UPDATE OF detail, reason ON claim_override FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER claim_override_truncate BEFORE TRUNCATE ON claim_override FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_override_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, event_id, check_key, is_failed, duplicates, staff_id, created_at ON claim_override FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_payment_delete BEFORE DELETE ON claim_payment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_payment_file_delete BEFORE DELETE ON claim_payment_file FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_payment_file_truncate BEFORE TRUNCATE ON claim_payment_file FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_payment_file_update BEFORE UPDATE ON claim_payment_file FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_payment_texts BEFORE UPDATE OF reference, reference_key ON claim_payment FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER claim_payment_truncate BEFORE TRUNCATE ON claim_payment FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_payment_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, provider_id, amount_minor, paid_by, created_at, reverses, payee_id, method, value_on, file_id ON claim_payment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_reserve_delete BEFORE DELETE ON claim_reserve FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_reserve_texts BEFORE UPDATE OF reason ON claim_reserve FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER claim_reserve_truncate BEFORE TRUNCATE ON claim_reserve FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER claim_reserve_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, change_minor, staff_id, created_at ON claim_reserve FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER commission_share_decision BEFORE UPDATE ON commission_share FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER commission_share_delete BEFORE DELETE ON commission_share FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER commission_share_figures BEFORE UPDATE OF id, distributor_id, product_id, effective_at, commission_bp, proposed_by, proposed_at ON commission_share FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER commission_share_truncate BEFORE TRUNCATE ON commission_share FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER compliance_figure_delete BEFORE DELETE ON compliance_figure FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER compliance_figure_update BEFORE UPDATE ON compliance_figure FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER credit_note_decision BEFORE UPDATE OF first_by, approved_by, approved_at ON credit_note FOR EACH ROW WHEN (((old.approved_by IS NOT NULL) OR ((old.first_by IS NOT NULL) AND (new.first_by <> old.first_by)))) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER credit_note_delete BEFORE DELETE ON credit_note FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER credit_note_figures BEFORE UPDATE OF id, refund_id, provider_id, distributor_id, is_live, number, total_minor, created_at, made_by ON credit_note FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER difference_delete BEFORE DELETE ON difference FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER difference_ended BEFORE UPDATE OF state ON difference FOR EACH ROW WHEN ((old.state IN ('Adjusted', 'Written off'))) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER difference_figures BEFORE UPDATE OF id, reconciliation_id, result, policy_number, kind, ours_minor, theirs_minor, difference_minor, detail, rows, subjects ON difference FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER difference_truncate BEFORE TRUNCATE ON difference FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER endorsement_notice_delete BEFORE DELETE ON endorsement_notice FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER endorsement_notice_texts BEFORE UPDATE OF note ON endorsement_notice FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER endorsement_notice_update BEFORE UPDATE OF distributor_id, is_live, endorsement_id, policy_id, told_by, created_at ON endorsement_notice FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER erasure_decision BEFORE UPDATE OF state, decided_by, decided_at, refusal, outcome, sha256 ON erasure FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER erasure_delete BEFORE DELETE ON erasure FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER erasure_figures BEFORE UPDATE OF id, number, record_class, request_id, customers, before_at, reason, is_early, is_restored, prepared_by, prepared_at ON erasure FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER export_receipt_delete BEFORE DELETE ON export_receipt FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER export_receipt_texts BEFORE UPDATE OF filters ON export_receipt FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER export_receipt_truncate BEFORE TRUNCATE ON export_receipt FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER export_receipt_update BEFORE UPDATE OF id, staff_id, kind, format, is_live, rows, sum_minor, sha256, content_sha256, again_of, created_at ON export_receipt FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER legal_hold_delete BEFORE DELETE ON legal_hold FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER month_step_delete BEFORE DELETE ON month_step FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER month_step_truncate BEFORE TRUNCATE ON month_step FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER month_step_update BEFORE UPDATE ON month_step FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_delete BEFORE DELETE ON payment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_ended BEFORE UPDATE OF state ON payment FOR EACH ROW WHEN ((old.state IN ('Returned', 'Withdrawn'))) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_figures BEFORE UPDATE OF id, account, distributor_id, provider_id, direction, statement_id, batch_id, bank_account_id, gross_minor, vat_minor, withheld_minor, net_minor, prepared_by, prepared_at ON payment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_settlement_delete BEFORE DELETE ON payment_settlement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_settlement_truncate BEFORE TRUNCATE ON payment_settlement FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_settlement_update BEFORE UPDATE ON payment_settlement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payment_truncate BEFORE TRUNCATE ON payment FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payout_batch_decided BEFORE UPDATE ON payout_batch FOR EACH ROW WHEN (((old.state)::text <> 'Prepared'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payout_batch_delete BEFORE DELETE ON payout_batch FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payout_batch_figures BEFORE UPDATE OF id, number, payments, net_minor, prepared_by, prepared_at ON payout_batch FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER payout_batch_truncate BEFORE TRUNCATE ON payout_batch FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER policy_endorsement_delete BEFORE DELETE ON policy_endorsement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER policy_endorsement_texts BEFORE UPDATE OF changes, reason, requested_by ON policy_endorsement FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER policy_endorsement_update BEFORE UPDATE OF distributor_id, is_live, id, policy_id, made_by, number, effective_on, premium_minor, created_at ON policy_endorsement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER product_version_amounts BEFORE UPDATE OF id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp, cover_months, meta, created_at, base_id, share_id ON product_version FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER product_version_delete BEFORE DELETE ON product_version FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER product_version_truncate BEFORE TRUNCATE ON product_version FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER product_version_withdrawal BEFORE UPDATE OF withdrawn_at ON product_version FOR EACH ROW WHEN (((old.withdrawn_at IS NOT NULL) OR (new.withdrawn_at IS NULL) OR (new.withdrawn_at >= old.effective_at))) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER purchase_amounts BEFORE UPDATE OF total_minor, mca_profit_minor, distributor_profit_minor, distributor_id, is_live, created_at ON purchase FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER purchase_delete BEFORE DELETE ON purchase FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER purchase_truncate BEFORE TRUNCATE ON purchase FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER rate_proposal_decision BEFORE UPDATE ON rate_proposal FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER rate_proposal_delete BEFORE DELETE ON rate_proposal FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER rate_proposal_figures BEFORE UPDATE OF id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp, cover_months, meta, proposed_by, proposed_at ON rate_proposal FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER rate_proposal_truncate BEFORE TRUNCATE ON rate_proposal FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER reconciliation_delete BEFORE DELETE ON reconciliation FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER reconciliation_truncate BEFORE TRUNCATE ON reconciliation FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER reconciliation_update BEFORE UPDATE ON reconciliation FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER redaction_delete BEFORE DELETE ON redaction FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER refund_delete BEFORE DELETE ON refund FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER refund_texts BEFORE UPDATE OF reason ON refund FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER refund_truncate BEFORE TRUNCATE ON refund FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER refund_update BEFORE UPDATE OF id, is_live, distributor_id, policy_id, purchase_id, renewal_id, customer_id, product_id, product_version_id, product_category_id, provider_id, total_minor, mca_profit_minor, distributor_profit_minor, method, explained, created_at ON refund FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER refund_within_its_term BEFORE INSERT ON refund FOR EACH ROW EXECUTE FUNCTION refund_within_its_term();

CREATE TRIGGER renewal_amounts BEFORE UPDATE OF total_minor, mca_profit_minor, distributor_profit_minor, distributor_id, is_live, created_at ON renewal FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER renewal_delete BEFORE DELETE ON renewal FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER renewal_truncate BEFORE TRUNCATE ON renewal FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER role_grant_decision BEFORE UPDATE OF state, decided_by, decided_at ON role_grant FOR EACH ROW WHEN (((old.state)::text <> 'open'::text)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER role_grant_delete BEFORE DELETE ON role_grant FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER role_grant_figures BEFORE UPDATE OF id, staff_id, roles, proposed_by, proposed_at ON role_grant FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_delete BEFORE DELETE ON statement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_figures BEFORE UPDATE OF id, account, distributor_id, provider_id, number, month, opening_minor, premium_minor, earned_minor, clawback_minor, adjusted_minor, vat_minor, withheld_minor, paid_minor, closing_minor, lines, sha256, facts, reverses_id, prepared_by, prepared_at ON statement FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_line_delete BEFORE DELETE ON statement_line FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_line_printed BEFORE UPDATE OF statement_id, "position", account, movement_id, product_id, other_id, kind, occurred_at, policy_number, effective_at, expires_at, premium_minor, commission_minor, vat_minor, withheld_minor, net_minor, rate_bp ON statement_line FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_line_released BEFORE UPDATE OF released_by ON statement_line FOR EACH ROW WHEN ((old.released_by IS NOT NULL)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_line_texts BEFORE UPDATE OF customer ON statement_line FOR EACH ROW EXECUTE FUNCTION keeps_unless_erasing();

CREATE TRIGGER statement_line_truncate BEFORE TRUNCATE ON statement_line FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_payment_delete BEFORE DELETE ON statement_payment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_payment_printed BEFORE UPDATE OF statement_id, "position", payment_id, entry, amount_minor, value_on, reference ON statement_payment FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_payment_released BEFORE UPDATE OF released_by ON statement_payment FOR EACH ROW WHEN ((old.released_by IS NOT NULL)) EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_payment_truncate BEFORE TRUNCATE ON statement_payment FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER statement_truncate BEFORE TRUNCATE ON statement FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER tax_rate_delete BEFORE DELETE ON tax_rate FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER tax_rate_truncate BEFORE TRUNCATE ON tax_rate FOR EACH STATEMENT EXECUTE FUNCTION keeps_what_it_holds();

CREATE TRIGGER tax_rate_update BEFORE UPDATE ON tax_rate FOR EACH ROW EXECUTE FUNCTION keeps_what_it_holds();

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_approved_by FOREIGN KEY (approved_by) REFERENCES staff(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_product_category_id FOREIGN KEY (product_category_id) REFERENCES product_category(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_product_version_id FOREIGN KEY (product_version_id) REFERENCES product_version(id);

ALTER TABLE ONLY adjustment_proposal
    ADD CONSTRAINT fk_adjustment_proposal_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY adjustment_proposal
    ADD CONSTRAINT fk_adjustment_proposal_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_proposal_id FOREIGN KEY (proposal_id) REFERENCES adjustment_proposal(id);

ALTER TABLE ONLY adjustment_proposal
    ADD CONSTRAINT fk_adjustment_proposal_proposed_by FOREIGN KEY (proposed_by) REFERENCES staff(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_proposed_by FOREIGN KEY (proposed_by) REFERENCES staff(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_purchase_id FOREIGN KEY (purchase_id) REFERENCES purchase(id);

ALTER TABLE ONLY adjustment
    ADD CONSTRAINT fk_adjustment_renewal_id FOREIGN KEY (renewal_id) REFERENCES renewal(id);

ALTER TABLE ONLY agreement
    ADD CONSTRAINT fk_agreement_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY agreement
    ADD CONSTRAINT fk_agreement_made_by FOREIGN KEY (made_by) REFERENCES staff(id);

ALTER TABLE ONLY agreement
    ADD CONSTRAINT fk_agreement_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY api_key
    ADD CONSTRAINT fk_api_key_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY bank_account
    ADD CONSTRAINT fk_bank_account_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY bank_account
    ADD CONSTRAINT fk_bank_account_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY bank_account
    ADD CONSTRAINT fk_bank_account_proposed_by FOREIGN KEY (proposed_by) REFERENCES staff(id);

ALTER TABLE ONLY bank_account
    ADD CONSTRAINT fk_bank_account_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT fk_bordereau_answered_by FOREIGN KEY (answered_by) REFERENCES staff(id);

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT fk_bordereau_issued_by FOREIGN KEY (issued_by) REFERENCES staff(id);

ALTER TABLE ONLY bordereau_line
    ADD CONSTRAINT fk_bordereau_line_bordereau_id FOREIGN KEY (bordereau_id) REFERENCES bordereau(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT fk_bordereau_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY bordereau
    ADD CONSTRAINT fk_bordereau_sent_by FOREIGN KEY (sent_by) REFERENCES staff(id);

ALTER TABLE ONLY breach
    ADD CONSTRAINT fk_breach_closed_by FOREIGN KEY (closed_by) REFERENCES staff(id);

ALTER TABLE ONLY breach
    ADD CONSTRAINT fk_breach_created_by FOREIGN KEY (created_by) REFERENCES staff(id);

ALTER TABLE ONLY breach
    ADD CONSTRAINT fk_breach_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY certificate
    ADD CONSTRAINT fk_certificate_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY certificate
    ADD CONSTRAINT fk_certificate_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_approved_by FOREIGN KEY (approved_by) REFERENCES staff(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_assigned_to FOREIGN KEY (assigned_to) REFERENCES staff(id);

ALTER TABLE ONLY claim_comment
    ADD CONSTRAINT fk_claim_comment_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_comment
    ADD CONSTRAINT fk_claim_comment_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_comment
    ADD CONSTRAINT fk_claim_comment_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_event
    ADD CONSTRAINT fk_claim_event_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_event
    ADD CONSTRAINT fk_claim_event_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_event
    ADD CONSTRAINT fk_claim_event_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_inspection_id FOREIGN KEY (inspection_id) REFERENCES inspection(id);

ALTER TABLE ONLY claim_letter_sent
    ADD CONSTRAINT fk_claim_letter_sent_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_letter_sent
    ADD CONSTRAINT fk_claim_letter_sent_code FOREIGN KEY (code) REFERENCES uploaded_file(code);

ALTER TABLE ONLY claim_letter_sent
    ADD CONSTRAINT fk_claim_letter_sent_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_letter_sent
    ADD CONSTRAINT fk_claim_letter_sent_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim_override
    ADD CONSTRAINT fk_claim_override_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_override
    ADD CONSTRAINT fk_claim_override_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_override
    ADD CONSTRAINT fk_claim_override_event_id FOREIGN KEY (event_id) REFERENCES claim_event(id);

ALTER TABLE ONLY claim_override
    ADD CONSTRAINT fk_claim_override_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim_payee
    ADD CONSTRAINT fk_claim_payee_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_payee
    ADD CONSTRAINT fk_claim_payee_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_payee
    ADD CONSTRAINT fk_claim_payee_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT fk_claim_payment_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT fk_claim_payment_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_payment_file
    ADD CONSTRAINT fk_claim_payment_file_paid_by FOREIGN KEY (paid_by) REFERENCES staff(id);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT fk_claim_payment_paid_by FOREIGN KEY (paid_by) REFERENCES staff(id);

ALTER TABLE ONLY claim_payment
    ADD CONSTRAINT fk_claim_payment_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY claim
    ADD CONSTRAINT fk_claim_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY claim_question
    ADD CONSTRAINT fk_claim_question_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_question
    ADD CONSTRAINT fk_claim_question_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_question
    ADD CONSTRAINT fk_claim_question_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim_referral
    ADD CONSTRAINT fk_claim_referral_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_referral
    ADD CONSTRAINT fk_claim_referral_closed_by FOREIGN KEY (closed_by) REFERENCES staff(id);

ALTER TABLE ONLY claim_referral
    ADD CONSTRAINT fk_claim_referral_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_referral
    ADD CONSTRAINT fk_claim_referral_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim_reserve
    ADD CONSTRAINT fk_claim_reserve_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_reserve
    ADD CONSTRAINT fk_claim_reserve_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_reserve
    ADD CONSTRAINT fk_claim_reserve_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY claim_task
    ADD CONSTRAINT fk_claim_task_assigned_to FOREIGN KEY (assigned_to) REFERENCES staff(id);

ALTER TABLE ONLY claim_task
    ADD CONSTRAINT fk_claim_task_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY claim_task
    ADD CONSTRAINT fk_claim_task_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY claim_task
    ADD CONSTRAINT fk_claim_task_done_by FOREIGN KEY (done_by) REFERENCES staff(id);

ALTER TABLE ONLY claim_task
    ADD CONSTRAINT fk_claim_task_made_by FOREIGN KEY (made_by) REFERENCES staff(id);

ALTER TABLE ONLY commission_share
    ADD CONSTRAINT fk_commission_share_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY commission_share
    ADD CONSTRAINT fk_commission_share_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY commission_share
    ADD CONSTRAINT fk_commission_share_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY commission_share
    ADD CONSTRAINT fk_commission_share_proposed_by FOREIGN KEY (proposed_by) REFERENCES staff(id);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT fk_complaint_answered_by FOREIGN KEY (answered_by) REFERENCES staff(id);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT fk_complaint_created_by FOREIGN KEY (created_by) REFERENCES staff(id);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT fk_complaint_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT fk_complaint_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY complaint
    ADD CONSTRAINT fk_complaint_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY compliance_figure
    ADD CONSTRAINT fk_compliance_figure_set_by FOREIGN KEY (set_by) REFERENCES staff(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_approved_by FOREIGN KEY (approved_by) REFERENCES staff(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_first_by FOREIGN KEY (first_by) REFERENCES staff(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_paid_by FOREIGN KEY (paid_by) REFERENCES staff(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_refund_id FOREIGN KEY (refund_id) REFERENCES refund(id);

ALTER TABLE ONLY credit_note
    ADD CONSTRAINT fk_credit_note_returned_by FOREIGN KEY (returned_by) REFERENCES staff(id);

ALTER TABLE ONLY customer
    ADD CONSTRAINT fk_customer_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY customer_merge
    ADD CONSTRAINT fk_customer_merge_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY customer_merge
    ADD CONSTRAINT fk_customer_merge_kept_id FOREIGN KEY (kept_id) REFERENCES customer(id);

ALTER TABLE ONLY customer_merge
    ADD CONSTRAINT fk_customer_merge_merged_by FOREIGN KEY (merged_by) REFERENCES staff(id);

ALTER TABLE ONLY customer_merge
    ADD CONSTRAINT fk_customer_merge_merged_id FOREIGN KEY (merged_id) REFERENCES customer(id);

ALTER TABLE ONLY customer_note
    ADD CONSTRAINT fk_customer_note_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY customer_note
    ADD CONSTRAINT fk_customer_note_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY data_request
    ADD CONSTRAINT fk_data_request_answered_by FOREIGN KEY (answered_by) REFERENCES staff(id);

ALTER TABLE ONLY data_request
    ADD CONSTRAINT fk_data_request_created_by FOREIGN KEY (created_by) REFERENCES staff(id);

ALTER TABLE ONLY data_request
    ADD CONSTRAINT fk_data_request_identity_by FOREIGN KEY (identity_by) REFERENCES staff(id);

ALTER TABLE ONLY daybook_line
    ADD CONSTRAINT fk_daybook_line_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY daybook_line
    ADD CONSTRAINT fk_daybook_line_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY difference
    ADD CONSTRAINT fk_difference_adjustment_id FOREIGN KEY (adjustment_id) REFERENCES adjustment(id);

ALTER TABLE ONLY difference
    ADD CONSTRAINT fk_difference_asked_by FOREIGN KEY (asked_by) REFERENCES staff(id);

ALTER TABLE ONLY difference
    ADD CONSTRAINT fk_difference_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY difference
    ADD CONSTRAINT fk_difference_owner_id FOREIGN KEY (owner_id) REFERENCES staff(id);

ALTER TABLE ONLY difference
    ADD CONSTRAINT fk_difference_reconciliation_id FOREIGN KEY (reconciliation_id) REFERENCES reconciliation(id);

ALTER TABLE ONLY endorsement_notice
    ADD CONSTRAINT fk_endorsement_notice_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY endorsement_notice
    ADD CONSTRAINT fk_endorsement_notice_endorsement_id FOREIGN KEY (endorsement_id) REFERENCES policy_endorsement(id);

ALTER TABLE ONLY endorsement_notice
    ADD CONSTRAINT fk_endorsement_notice_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY endorsement_notice
    ADD CONSTRAINT fk_endorsement_notice_told_by FOREIGN KEY (told_by) REFERENCES staff(id);

ALTER TABLE ONLY erasure
    ADD CONSTRAINT fk_erasure_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY erasure
    ADD CONSTRAINT fk_erasure_prepared_by FOREIGN KEY (prepared_by) REFERENCES staff(id);

ALTER TABLE ONLY erasure
    ADD CONSTRAINT fk_erasure_request_id FOREIGN KEY (request_id) REFERENCES data_request(id);

ALTER TABLE ONLY event
    ADD CONSTRAINT fk_event_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY export_receipt
    ADD CONSTRAINT fk_export_receipt_again_of FOREIGN KEY (again_of) REFERENCES export_receipt(id);

ALTER TABLE ONLY export_receipt
    ADD CONSTRAINT fk_export_receipt_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY file_mapping
    ADD CONSTRAINT fk_file_mapping_changed_by FOREIGN KEY (changed_by) REFERENCES staff(id);

ALTER TABLE ONLY file_mapping
    ADD CONSTRAINT fk_file_mapping_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY filing
    ADD CONSTRAINT fk_filing_checked_by FOREIGN KEY (checked_by) REFERENCES staff(id);

ALTER TABLE ONLY filing
    ADD CONSTRAINT fk_filing_prepared_by FOREIGN KEY (prepared_by) REFERENCES staff(id);

ALTER TABLE ONLY filing
    ADD CONSTRAINT fk_filing_sent_by FOREIGN KEY (sent_by) REFERENCES staff(id);

ALTER TABLE ONLY inspection
    ADD CONSTRAINT fk_inspection_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY insured_risk
    ADD CONSTRAINT fk_insured_risk_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY insurer_connection
    ADD CONSTRAINT fk_insurer_connection_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY kept_answer
    ADD CONSTRAINT fk_kept_answer_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY legal_hold
    ADD CONSTRAINT fk_legal_hold_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY legal_hold
    ADD CONSTRAINT fk_legal_hold_lifted_by FOREIGN KEY (lifted_by) REFERENCES staff(id);

ALTER TABLE ONLY legal_hold
    ADD CONSTRAINT fk_legal_hold_set_by FOREIGN KEY (set_by) REFERENCES staff(id);

ALTER TABLE ONLY month_step
    ADD CONSTRAINT fk_month_step_before_by FOREIGN KEY (before_by) REFERENCES staff(id);

ALTER TABLE ONLY month_step
    ADD CONSTRAINT fk_month_step_by FOREIGN KEY (by) REFERENCES staff(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_approved_by FOREIGN KEY (approved_by) REFERENCES staff(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_bank_account_id FOREIGN KEY (bank_account_id) REFERENCES bank_account(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_batch_id FOREIGN KEY (batch_id) REFERENCES payout_batch(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_confirmed_by FOREIGN KEY (confirmed_by) REFERENCES staff(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_prepared_by FOREIGN KEY (prepared_by) REFERENCES staff(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_returned_by FOREIGN KEY (returned_by) REFERENCES staff(id);

ALTER TABLE ONLY payment_settlement
    ADD CONSTRAINT fk_payment_settlement_payment_id FOREIGN KEY (payment_id) REFERENCES payment(id);

ALTER TABLE ONLY payment_settlement
    ADD CONSTRAINT fk_payment_settlement_statement_id FOREIGN KEY (statement_id) REFERENCES statement(id);

ALTER TABLE ONLY payment
    ADD CONSTRAINT fk_payment_statement_id FOREIGN KEY (statement_id) REFERENCES statement(id);

ALTER TABLE ONLY payout_batch
    ADD CONSTRAINT fk_payout_batch_approved_by FOREIGN KEY (approved_by) REFERENCES staff(id);

ALTER TABLE ONLY payout_batch
    ADD CONSTRAINT fk_payout_batch_prepared_by FOREIGN KEY (prepared_by) REFERENCES staff(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_buyer_id FOREIGN KEY (buyer_id) REFERENCES customer(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY policy_endorsement
    ADD CONSTRAINT fk_policy_endorsement_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY policy_endorsement
    ADD CONSTRAINT fk_policy_endorsement_made_by FOREIGN KEY (made_by) REFERENCES staff(id);

ALTER TABLE ONLY policy_endorsement
    ADD CONSTRAINT fk_policy_endorsement_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_inspection_id FOREIGN KEY (inspection_id) REFERENCES inspection(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_possible_duplicate_of FOREIGN KEY (possible_duplicate_of) REFERENCES policy(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_product_category_id FOREIGN KEY (product_category_id) REFERENCES product_category(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY policy
    ADD CONSTRAINT fk_policy_purchase_id FOREIGN KEY (purchase_id) REFERENCES purchase(id);

ALTER TABLE ONLY product_block
    ADD CONSTRAINT fk_product_block_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY product_block
    ADD CONSTRAINT fk_product_block_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY product
    ADD CONSTRAINT fk_product_product_category_id FOREIGN KEY (product_category_id) REFERENCES product_category(id);

ALTER TABLE ONLY product
    ADD CONSTRAINT fk_product_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY product_version
    ADD CONSTRAINT fk_product_version_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT fk_purchase_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT fk_purchase_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT fk_purchase_product_category_id FOREIGN KEY (product_category_id) REFERENCES product_category(id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT fk_purchase_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT fk_purchase_product_version_id FOREIGN KEY (product_version_id) REFERENCES product_version(id);

ALTER TABLE ONLY purchase
    ADD CONSTRAINT fk_purchase_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY rate_proposal
    ADD CONSTRAINT fk_rate_proposal_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY rate_proposal
    ADD CONSTRAINT fk_rate_proposal_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY rate_proposal
    ADD CONSTRAINT fk_rate_proposal_proposed_by FOREIGN KEY (proposed_by) REFERENCES staff(id);

ALTER TABLE ONLY rate_proposal
    ADD CONSTRAINT fk_rate_proposal_version_id FOREIGN KEY (version_id) REFERENCES product_version(id);

ALTER TABLE ONLY reconciliation
    ADD CONSTRAINT fk_reconciliation_made_by FOREIGN KEY (made_by) REFERENCES staff(id);

ALTER TABLE ONLY reconciliation
    ADD CONSTRAINT fk_reconciliation_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY redaction
    ADD CONSTRAINT fk_redaction_erasure_id FOREIGN KEY (erasure_id) REFERENCES erasure(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_product_category_id FOREIGN KEY (product_category_id) REFERENCES product_category(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_product_version_id FOREIGN KEY (product_version_id) REFERENCES product_version(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_purchase_id FOREIGN KEY (purchase_id) REFERENCES purchase(id);

ALTER TABLE ONLY refund
    ADD CONSTRAINT fk_refund_renewal_id FOREIGN KEY (renewal_id) REFERENCES renewal(id);

ALTER TABLE ONLY reminder_opt_out
    ADD CONSTRAINT fk_reminder_opt_out_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY reminder_opt_out
    ADD CONSTRAINT fk_reminder_opt_out_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY renewal_call
    ADD CONSTRAINT fk_renewal_call_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY renewal_call
    ADD CONSTRAINT fk_renewal_call_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_customer_id FOREIGN KEY (customer_id) REFERENCES customer(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_product_category_id FOREIGN KEY (product_category_id) REFERENCES product_category(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_product_version_id FOREIGN KEY (product_version_id) REFERENCES product_version(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY renewal
    ADD CONSTRAINT fk_renewal_purchase_id FOREIGN KEY (purchase_id) REFERENCES purchase(id);

ALTER TABLE ONLY renewal_reminder
    ADD CONSTRAINT fk_renewal_reminder_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY renewal_reminder
    ADD CONSTRAINT fk_renewal_reminder_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY role_grant
    ADD CONSTRAINT fk_role_grant_decided_by FOREIGN KEY (decided_by) REFERENCES staff(id);

ALTER TABLE ONLY role_grant
    ADD CONSTRAINT fk_role_grant_proposed_by FOREIGN KEY (proposed_by) REFERENCES staff(id);

ALTER TABLE ONLY role_grant
    ADD CONSTRAINT fk_role_grant_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY sale_draft
    ADD CONSTRAINT fk_sale_draft_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY sale_draft
    ADD CONSTRAINT fk_sale_draft_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY sales_target
    ADD CONSTRAINT fk_sales_target_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY sales_target
    ADD CONSTRAINT fk_sales_target_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY staff_session
    ADD CONSTRAINT fk_staff_session_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY start_view
    ADD CONSTRAINT fk_start_view_view_id FOREIGN KEY (view_id) REFERENCES saved_view(id) ON DELETE CASCADE;

ALTER TABLE ONLY statement
    ADD CONSTRAINT fk_statement_approved_by FOREIGN KEY (approved_by) REFERENCES staff(id);

ALTER TABLE ONLY statement
    ADD CONSTRAINT fk_statement_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY statement_line
    ADD CONSTRAINT fk_statement_line_product_id FOREIGN KEY (product_id) REFERENCES product(id);

ALTER TABLE ONLY statement_line
    ADD CONSTRAINT fk_statement_line_released_by FOREIGN KEY (released_by) REFERENCES statement(id);

ALTER TABLE ONLY statement_line
    ADD CONSTRAINT fk_statement_line_statement_id FOREIGN KEY (statement_id) REFERENCES statement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY statement_payment
    ADD CONSTRAINT fk_statement_payment_payment_id FOREIGN KEY (payment_id) REFERENCES payment(id);

ALTER TABLE ONLY statement_payment
    ADD CONSTRAINT fk_statement_payment_released_by FOREIGN KEY (released_by) REFERENCES statement(id);

ALTER TABLE ONLY statement_payment
    ADD CONSTRAINT fk_statement_payment_statement_id FOREIGN KEY (statement_id) REFERENCES statement(id) DEFERRABLE INITIALLY DEFERRED;

ALTER TABLE ONLY statement
    ADD CONSTRAINT fk_statement_prepared_by FOREIGN KEY (prepared_by) REFERENCES staff(id);

ALTER TABLE ONLY statement
    ADD CONSTRAINT fk_statement_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY statement
    ADD CONSTRAINT fk_statement_reverses_id FOREIGN KEY (reverses_id) REFERENCES statement(id);

ALTER TABLE ONLY statement
    ADD CONSTRAINT fk_statement_sent_by FOREIGN KEY (sent_by) REFERENCES staff(id);

ALTER TABLE ONLY submission
    ADD CONSTRAINT fk_submission_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY submission_owner
    ADD CONSTRAINT fk_submission_owner_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY submission_owner
    ADD CONSTRAINT fk_submission_owner_owner_id FOREIGN KEY (owner_id) REFERENCES staff(id);

ALTER TABLE ONLY submission_owner
    ADD CONSTRAINT fk_submission_owner_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY submission
    ADD CONSTRAINT fk_submission_policy_id FOREIGN KEY (policy_id) REFERENCES policy(id);

ALTER TABLE ONLY submission
    ADD CONSTRAINT fk_submission_provider_id FOREIGN KEY (provider_id) REFERENCES provider(id);

ALTER TABLE ONLY uploaded_file
    ADD CONSTRAINT fk_uploaded_file_claim_id FOREIGN KEY (claim_id) REFERENCES claim(id);

ALTER TABLE ONLY uploaded_file
    ADD CONSTRAINT fk_uploaded_file_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY view_watch
    ADD CONSTRAINT fk_view_watch_staff_id FOREIGN KEY (staff_id) REFERENCES staff(id);

ALTER TABLE ONLY view_watch
    ADD CONSTRAINT fk_view_watch_view_id FOREIGN KEY (view_id) REFERENCES saved_view(id) ON DELETE CASCADE;

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT fk_webhook_delivery_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT fk_webhook_delivery_endpoint_id FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(id);

ALTER TABLE ONLY webhook_delivery
    ADD CONSTRAINT fk_webhook_delivery_event_id FOREIGN KEY (event_id) REFERENCES event(id);

ALTER TABLE ONLY webhook_endpoint
    ADD CONSTRAINT fk_webhook_endpoint_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);

ALTER TABLE ONLY webhook_endpoint
    ADD CONSTRAINT fk_webhook_endpoint_key_id FOREIGN KEY (key_id) REFERENCES api_key(id);

ALTER TABLE ONLY webhook_try
    ADD CONSTRAINT fk_webhook_try_delivery_id FOREIGN KEY (delivery_id) REFERENCES webhook_delivery(id);

ALTER TABLE ONLY webhook_try
    ADD CONSTRAINT fk_webhook_try_distributor_id FOREIGN KEY (distributor_id) REFERENCES distributor(id);
