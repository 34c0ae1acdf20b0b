-- What a SQLite store of release 0.2.0 holds before its first use.

CREATE TABLE audit_entry (
	id CHAR(32) NOT NULL, 
	chain INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	actor VARCHAR(120) NOT NULL, 
	action VARCHAR(60) NOT NULL, 
	subject VARCHAR(120) NOT NULL, 
	"before" JSON, 
	"after" JSON, 
	created_at DATETIME NOT NULL, 
	hash VARCHAR(64) NOT NULL, trace_id VARCHAR(32), 
	CONSTRAINT pk_audit_entry PRIMARY KEY (id), 
	CONSTRAINT uq_audit_entry_chain_position UNIQUE (chain, position)
);

CREATE TABLE audit_head (
	chain INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_audit_head PRIMARY KEY (chain)
);

CREATE TABLE distributor (
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	business_name VARCHAR(100) NOT NULL, 
	email VARCHAR, 
	active BOOLEAN NOT NULL, 
	CONSTRAINT pk_distributor PRIMARY KEY (id), 
	CONSTRAINT uq_distributor_business_name UNIQUE (business_name)
);

CREATE TABLE number_counter (
	series VARCHAR(80) NOT NULL, 
	last BIGINT NOT NULL, 
	CONSTRAINT pk_number_counter PRIMARY KEY (series)
);

CREATE TABLE one_time_ticket (
	ticket_hash VARCHAR(64) NOT NULL, 
	used_at DATETIME NOT NULL, 
	CONSTRAINT pk_one_time_ticket PRIMARY KEY (ticket_hash)
);

CREATE TABLE product_category (
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	name VARCHAR(60) NOT NULL, 
	CONSTRAINT pk_product_category PRIMARY KEY (id), 
	CONSTRAINT uq_product_category_name UNIQUE (name)
);

CREATE TABLE provider (
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	segment VARCHAR(20) NOT NULL, 
	company_name VARCHAR(100) NOT NULL, 
	number_series VARCHAR(60) NOT NULL, 
	owner_id CHAR(32), 
	wallet_id CHAR(32), 
	bank_account_id CHAR(32), 
	first_name VARCHAR NOT NULL, 
	last_name VARCHAR NOT NULL, 
	email VARCHAR NOT NULL, 
	phone_number VARCHAR NOT NULL, 
	country VARCHAR NOT NULL, 
	verification_type VARCHAR, 
	verification_number VARCHAR, 
	bvn_number VARCHAR, 
	verification_images VARCHAR, 
	business_type VARCHAR, 
	claim_email VARCHAR, 
	business_email VARCHAR, 
	support_email VARCHAR, 
	sealed VARCHAR, 
	active BOOLEAN NOT NULL, 
	CONSTRAINT pk_provider PRIMARY KEY (id), 
	CONSTRAINT uq_provider_segment UNIQUE (segment)
);

CREATE TABLE sign_in_attempt (
	email_hash VARCHAR(64) NOT NULL, 
	failures INTEGER NOT NULL, 
	last_failed_at DATETIME NOT NULL, 
	CONSTRAINT pk_sign_in_attempt PRIMARY KEY (email_hash)
);

CREATE TABLE staff (
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	email VARCHAR(254) NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	roles JSON NOT NULL, 
	password_hash VARCHAR, 
	claim_limit_minor BIGINT, 
	disabled_at DATETIME, 
	link_until DATETIME, link_by CHAR(32), approves_from DATETIME, 
	CONSTRAINT pk_staff PRIMARY KEY (id), 
	CONSTRAINT uq_staff_email UNIQUE (email)
);

CREATE TABLE api_key (
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	hint VARCHAR(24) NOT NULL, 
	key_hash VARCHAR(64) NOT NULL, 
	last_used_at DATETIME, 
	revoked_at DATETIME, 
	CONSTRAINT pk_api_key PRIMARY KEY (id), 
	CONSTRAINT fk_api_key_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT uq_api_key_key_hash UNIQUE (key_hash)
);

CREATE TABLE customer (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	email VARCHAR(254) NOT NULL, 
	email_key VARCHAR(254) NOT NULL, 
	first_name VARCHAR NOT NULL, 
	last_name VARCHAR NOT NULL, 
	phone_number VARCHAR(32), 
	user_id CHAR(32) NOT NULL, 
	wallet_id CHAR(32), 
	country VARCHAR, 
	gender VARCHAR, 
	title VARCHAR, 
	state_of_residence VARCHAR, 
	city VARCHAR, 
	address VARCHAR, 
	date_of_birth VARCHAR, 
	identity_verification VARCHAR, 
	verification_type VARCHAR, 
	face_image VARCHAR, 
	is_kyc_complete BOOLEAN NOT NULL, 
	active BOOLEAN NOT NULL, name_key VARCHAR DEFAULT '' NOT NULL, 
	CONSTRAINT pk_customer PRIMARY KEY (id), 
	CONSTRAINT fk_customer_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT uq_customer_distributor_id_is_live_email_key UNIQUE (distributor_id, is_live, email_key)
);

CREATE TABLE export_receipt (
	id CHAR(32) NOT NULL, 
	staff_id CHAR(32), 
	kind VARCHAR(20) NOT NULL, 
	format VARCHAR(10) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	filters JSON NOT NULL, 
	rows BIGINT NOT NULL, 
	sum_minor BIGINT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	content_sha256 VARCHAR(64) NOT NULL, 
	again_of CHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_export_receipt PRIMARY KEY (id), 
	CONSTRAINT fk_export_receipt_again_of FOREIGN KEY(again_of) REFERENCES export_receipt (id), 
	CONSTRAINT fk_export_receipt_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE inspection (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	reference VARCHAR, 
	CONSTRAINT pk_inspection PRIMARY KEY (id), 
	CONSTRAINT fk_inspection_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id)
);

CREATE TABLE kept_answer (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	"key" VARCHAR(200) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	status INTEGER NOT NULL, 
	body BLOB NOT NULL, 
	headers JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_kept_answer PRIMARY KEY (distributor_id, is_live, "key"), 
	CONSTRAINT fk_kept_answer_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id)
);

CREATE TABLE product (
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	provider_id CHAR(32) NOT NULL, 
	product_category_id CHAR(32) NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	description VARCHAR NOT NULL, 
	key_benefits VARCHAR NOT NULL, 
	full_benefits JSON NOT NULL, 
	prefix VARCHAR(20) NOT NULL, 
	route_name VARCHAR(60) NOT NULL, 
	renewable BOOLEAN NOT NULL, 
	claimable BOOLEAN NOT NULL, 
	inspectable BOOLEAN NOT NULL, 
	certificateable BOOLEAN NOT NULL, 
	is_dynamic_pricing BOOLEAN NOT NULL, 
	active BOOLEAN NOT NULL, 
	how_it_works VARCHAR, 
	how_to_claim VARCHAR, 
	document VARCHAR, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_product PRIMARY KEY (id), 
	CONSTRAINT fk_product_product_category_id FOREIGN KEY(product_category_id) REFERENCES product_category (id), 
	CONSTRAINT fk_product_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id)
);

CREATE TABLE staff_session (
	token_hash VARCHAR(64) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	ended_at DATETIME, 
	CONSTRAINT pk_staff_session PRIMARY KEY (token_hash), 
	CONSTRAINT fk_staff_session_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE daybook_line (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	part INTEGER NOT NULL, 
	grain VARCHAR(5) NOT NULL, 
	day DATE NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	premium_frequency VARCHAR(20) NOT NULL, 
	sold BIGINT NOT NULL, 
	sold_minor BIGINT NOT NULL, 
	sold_mca_minor BIGINT NOT NULL, 
	sold_distributor_minor BIGINT NOT NULL, 
	renewed BIGINT NOT NULL, 
	renewed_minor BIGINT NOT NULL, 
	renewed_mca_minor BIGINT NOT NULL, 
	renewed_distributor_minor BIGINT NOT NULL, 
	refunds BIGINT NOT NULL, 
	refunded_minor BIGINT NOT NULL, refunded_mca_minor BIGINT DEFAULT '0' NOT NULL, refunded_distributor_minor BIGINT DEFAULT '0' NOT NULL, adjustments BIGINT DEFAULT '0' NOT NULL, adjusted_minor BIGINT DEFAULT '0' NOT NULL, adjusted_mca_minor BIGINT DEFAULT '0' NOT NULL, adjusted_distributor_minor BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_daybook_line PRIMARY KEY (is_live, grain, day, product_id, distributor_id, premium_frequency, part), 
	CONSTRAINT ck_daybook_line_grain CHECK (grain IN ('day', 'month')), 
	CONSTRAINT fk_daybook_line_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_daybook_line_product_id FOREIGN KEY(product_id) REFERENCES product (id)
)
 WITHOUT ROWID

;

CREATE TABLE insured_risk (
	product_id CHAR(32) NOT NULL, 
	risk_hash VARCHAR(64) NOT NULL, 
	sold_at DATETIME NOT NULL, 
	CONSTRAINT pk_insured_risk PRIMARY KEY (product_id, risk_hash), 
	CONSTRAINT fk_insured_risk_product_id FOREIGN KEY(product_id) REFERENCES product (id)
);

CREATE TABLE product_block (
	product_id CHAR(32) NOT NULL, 
	distributor_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_product_block PRIMARY KEY (product_id, distributor_id), 
	CONSTRAINT fk_product_block_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_product_block_product_id FOREIGN KEY(product_id) REFERENCES product (id)
);

CREATE TABLE product_version (
	id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	effective_at DATETIME NOT NULL, 
	price_minor BIGINT NOT NULL, 
	mca_commission_bp INTEGER NOT NULL, 
	distributor_commission_bp INTEGER NOT NULL, 
	cover_months INTEGER NOT NULL, 
	meta JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	withdrawn_at DATETIME, base_id CHAR(32), share_id CHAR(32), 
	CONSTRAINT pk_product_version PRIMARY KEY (id), 
	CONSTRAINT ck_product_version_commissions CHECK (mca_commission_bp >= 0 AND distributor_commission_bp >= 0 AND mca_commission_bp + distributor_commission_bp <= 10000), 
	CONSTRAINT ck_product_version_price CHECK (price_minor >= 0), 
	CONSTRAINT fk_product_version_product_id FOREIGN KEY(product_id) REFERENCES product (id)
);

CREATE TABLE purchase (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	customer_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	product_version_id CHAR(32) NOT NULL, 
	product_category_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	batch_id CHAR(32) NOT NULL, 
	premium_frequency VARCHAR(20), 
	discount_code_id CHAR(32), 
	total_minor BIGINT NOT NULL, 
	mca_profit_minor BIGINT NOT NULL, 
	distributor_profit_minor BIGINT NOT NULL, 
	payment_option VARCHAR(40), 
	payment_channel VARCHAR(40), 
	request_source VARCHAR(40), 
	CONSTRAINT pk_purchase PRIMARY KEY (id), 
	CONSTRAINT ck_purchase_parts CHECK (total_minor >= 0 AND mca_profit_minor >= 0 AND distributor_profit_minor >= 0 AND mca_profit_minor + distributor_profit_minor <= total_minor), 
	CONSTRAINT fk_purchase_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_purchase_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_purchase_product_category_id FOREIGN KEY(product_category_id) REFERENCES product_category (id), 
	CONSTRAINT fk_purchase_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_purchase_product_version_id FOREIGN KEY(product_version_id) REFERENCES product_version (id), 
	CONSTRAINT fk_purchase_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id)
);

CREATE TABLE policy (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	purchase_id CHAR(32) NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	buyer_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	product_category_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	inspection_id CHAR(32), 
	first_name VARCHAR NOT NULL, 
	last_name VARCHAR NOT NULL, 
	email VARCHAR(254) NOT NULL, 
	phone VARCHAR(32), 
	dob VARCHAR, 
	start_at DATETIME, 
	activation_at DATETIME, 
	expiration_at DATETIME, 
	activated BOOLEAN NOT NULL, 
	submitted_to_provider BOOLEAN NOT NULL, 
	cancelled_at DATETIME, 
	declined_at DATETIME, 
	policy_number VARCHAR(60), 
	number_key VARCHAR(60), 
	provider_policy_id VARCHAR, 
	certificate_code VARCHAR(32), 
	plate_key VARCHAR(40), 
	device_serial_number VARCHAR, 
	risk_hash VARCHAR(64), 
	twin_key VARCHAR(60), 
	possible_duplicate_of CHAR(32), 
	sum_insured_minor BIGINT, 
	market_price_minor BIGINT NOT NULL, 
	genius_price_minor BIGINT NOT NULL, 
	profit_minor BIGINT NOT NULL, 
	payment_option VARCHAR(40), 
	payment_channel VARCHAR(40), 
	request_source VARCHAR(40), 
	submitted JSON NOT NULL, 
	payload JSON NOT NULL, 
	sealed VARCHAR, 
	explained JSON NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_policy PRIMARY KEY (id), 
	CONSTRAINT ck_policy_numbered CHECK (NOT activated OR number_key IS NOT NULL), 
	CONSTRAINT ck_policy_term CHECK (expiration_at IS NULL OR start_at IS NULL OR expiration_at >= start_at), 
	CONSTRAINT fk_policy_buyer_id FOREIGN KEY(buyer_id) REFERENCES customer (id), 
	CONSTRAINT fk_policy_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_policy_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_policy_inspection_id FOREIGN KEY(inspection_id) REFERENCES inspection (id), 
	CONSTRAINT fk_policy_possible_duplicate_of FOREIGN KEY(possible_duplicate_of) REFERENCES policy (id), 
	CONSTRAINT fk_policy_product_category_id FOREIGN KEY(product_category_id) REFERENCES product_category (id), 
	CONSTRAINT fk_policy_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_policy_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_policy_purchase_id FOREIGN KEY(purchase_id) REFERENCES purchase (id), 
	CONSTRAINT uq_policy_provider_id_number_key UNIQUE (provider_id, number_key), 
	CONSTRAINT uq_policy_purchase_id UNIQUE (purchase_id)
);

CREATE TABLE certificate (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	start_at DATETIME NOT NULL, 
	expiration_at DATETIME NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_certificate PRIMARY KEY (code), 
	CONSTRAINT fk_certificate_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_certificate_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id)
);

CREATE TABLE claim (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	policy_id CHAR(32) NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	inspection_id CHAR(32), 
	claim_type VARCHAR(40) NOT NULL, 
	claim_status VARCHAR(30) NOT NULL, 
	claim_description VARCHAR NOT NULL, 
	claim_owner VARCHAR(40) NOT NULL, 
	claim_owner_first_name VARCHAR NOT NULL, 
	claim_owner_last_name VARCHAR NOT NULL, 
	claim_owner_email VARCHAR NOT NULL, 
	claim_owner_phone_number VARCHAR, 
	decline_reason VARCHAR NOT NULL, 
	claim_amount_minor BIGINT NOT NULL, 
	estimate_amount_minor BIGINT NOT NULL, 
	repair_estimate_minor BIGINT NOT NULL, 
	offer_amount_minor BIGINT NOT NULL, 
	betterment_deduction_amount_minor BIGINT NOT NULL, 
	excess_deduction_amount_minor BIGINT NOT NULL, 
	approved_amount_minor BIGINT NOT NULL, 
	incident_date VARCHAR, 
	claim_invoice_url VARCHAR, 
	offer_form_url VARCHAR, 
	payment_reference VARCHAR, 
	assigned_to CHAR(32), 
	approved_by CHAR(32), 
	flags JSON NOT NULL, 
	vehicle_claim_meta JSON, 
	gadget_claim_meta JSON, 
	credit_life_claim_meta JSON, 
	sealed VARCHAR, 
	account_key VARCHAR(64), 
	clock_from DATETIME NOT NULL, 
	clock_stopped_at DATETIME, 
	version INTEGER NOT NULL, claim_meta JSON, claim_owner_name_key VARCHAR DEFAULT '' NOT NULL, 
	CONSTRAINT pk_claim PRIMARY KEY (id), 
	CONSTRAINT ck_claim_status CHECK (claim_status IN ('Viewed', 'Pending', 'Inspection submitted', 'Approved', 'Declined', 'Reviewing', 'Repair estimate submitted', 'Offer sent', 'Offer accepted', 'Offer rejected', 'Paid', 'Settled')), 
	CONSTRAINT ck_claim_amounts CHECK (claim_amount_minor >= 0 AND estimate_amount_minor >= 0 AND repair_estimate_minor >= 0 AND offer_amount_minor >= 0 AND betterment_deduction_amount_minor >= 0 AND excess_deduction_amount_minor >= 0 AND approved_amount_minor >= 0), 
	CONSTRAINT fk_claim_approved_by FOREIGN KEY(approved_by) REFERENCES staff (id), 
	CONSTRAINT fk_claim_assigned_to FOREIGN KEY(assigned_to) REFERENCES staff (id), 
	CONSTRAINT fk_claim_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_claim_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_inspection_id FOREIGN KEY(inspection_id) REFERENCES inspection (id), 
	CONSTRAINT fk_claim_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_claim_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_claim_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id)
);

CREATE TABLE renewal (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	policy_id CHAR(32) NOT NULL, 
	purchase_id CHAR(32) NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	product_version_id CHAR(32) NOT NULL, 
	product_category_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	status BOOLEAN NOT NULL, 
	total_minor BIGINT NOT NULL, 
	mca_profit_minor BIGINT NOT NULL, 
	distributor_profit_minor BIGINT NOT NULL, 
	previous_expiration_at DATETIME NOT NULL, 
	start_at DATETIME NOT NULL, 
	expiration_at DATETIME NOT NULL, 
	payment_option VARCHAR(40), 
	payment_channel VARCHAR(40), 
	request_source VARCHAR(40), 
	CONSTRAINT pk_renewal PRIMARY KEY (id), 
	CONSTRAINT ck_renewal_parts CHECK (total_minor >= 0 AND mca_profit_minor >= 0 AND distributor_profit_minor >= 0 AND mca_profit_minor + distributor_profit_minor <= total_minor), 
	CONSTRAINT fk_renewal_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_renewal_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_renewal_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_renewal_product_category_id FOREIGN KEY(product_category_id) REFERENCES product_category (id), 
	CONSTRAINT fk_renewal_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_renewal_product_version_id FOREIGN KEY(product_version_id) REFERENCES product_version (id), 
	CONSTRAINT fk_renewal_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_renewal_purchase_id FOREIGN KEY(purchase_id) REFERENCES purchase (id), 
	CONSTRAINT uq_renewal_policy_id_previous_expiration_at UNIQUE (policy_id, previous_expiration_at)
);

CREATE TABLE insurer_connection (
	provider_id CHAR(32) NOT NULL, 
	failures INTEGER NOT NULL, 
	rests_until DATETIME, 
	last_success_at DATETIME, 
	last_failure_at DATETIME, 
	last_error VARCHAR, 
	CONSTRAINT pk_insurer_connection PRIMARY KEY (provider_id), 
	CONSTRAINT fk_insurer_connection_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id)
);

CREATE TABLE submission (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	attempts INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	next_try_at DATETIME, 
	leased_until DATETIME, 
	last_error VARCHAR, 
	answer VARCHAR(20), 
	answered_at DATETIME, 
	insurer_number VARCHAR(60), 
	insurer_certificate_url VARCHAR, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, trace_id VARCHAR(32), 
	CONSTRAINT pk_submission PRIMARY KEY (policy_id), 
	CONSTRAINT ck_submission_state CHECK (state IN ('delegated', 'queued', 'accepted', 'declined', 'dead', 'withdrawn')), 
	CONSTRAINT fk_submission_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_submission_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_submission_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id)
);

CREATE TABLE claim_comment (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	text VARCHAR NOT NULL, 
	for_claimant BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_comment PRIMARY KEY (id), 
	CONSTRAINT fk_claim_comment_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_comment_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_comment_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE claim_event (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	status VARCHAR(30) NOT NULL, 
	note VARCHAR, 
	staff_id CHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_event PRIMARY KEY (id), 
	CONSTRAINT fk_claim_event_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_event_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_event_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE claim_question (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	text VARCHAR NOT NULL, 
	asked_at DATETIME NOT NULL, 
	answered_at DATETIME, due_on DATE, answer VARCHAR, closed_at DATETIME, 
	CONSTRAINT pk_claim_question PRIMARY KEY (id), 
	CONSTRAINT fk_claim_question_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_question_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_question_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE uploaded_file (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	file_name VARCHAR(200) NOT NULL, 
	content_type VARCHAR(40) NOT NULL, 
	size INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	sent_sha256 VARCHAR(64) NOT NULL, 
	claim_id CHAR(32), 
	created_at DATETIME NOT NULL, field VARCHAR(40), 
	CONSTRAINT pk_uploaded_file PRIMARY KEY (code), 
	CONSTRAINT fk_uploaded_file_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_uploaded_file_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id)
);

CREATE TABLE day_total (
	is_live BOOLEAN NOT NULL, 
	day DATE NOT NULL, 
	part INTEGER NOT NULL, 
	sold BIGINT NOT NULL, 
	sold_minor BIGINT NOT NULL, 
	sold_mca_minor BIGINT NOT NULL, 
	sold_distributor_minor BIGINT NOT NULL, 
	renewed BIGINT NOT NULL, 
	renewed_minor BIGINT NOT NULL, 
	renewed_mca_minor BIGINT NOT NULL, 
	renewed_distributor_minor BIGINT NOT NULL, 
	refunds BIGINT NOT NULL, 
	refunded_minor BIGINT NOT NULL, 
	in_force_change BIGINT NOT NULL, 
	terms_ended BIGINT NOT NULL, 
	terms_renewed BIGINT NOT NULL, refunded_mca_minor BIGINT DEFAULT '0' NOT NULL, refunded_distributor_minor BIGINT DEFAULT '0' NOT NULL, adjustments BIGINT DEFAULT '0' NOT NULL, adjusted_minor BIGINT DEFAULT '0' NOT NULL, adjusted_mca_minor BIGINT DEFAULT '0' NOT NULL, adjusted_distributor_minor BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_day_total PRIMARY KEY (is_live, day, part)
)
 WITHOUT ROWID

;

CREATE TABLE store_secret (
	id INTEGER NOT NULL, 
	mark VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_store_secret PRIMARY KEY (id)
);

CREATE TABLE refund (
	id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	distributor_id CHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	purchase_id CHAR(32) NOT NULL, 
	renewal_id CHAR(32), 
	customer_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	product_version_id CHAR(32) NOT NULL, 
	product_category_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	total_minor BIGINT NOT NULL, 
	mca_profit_minor BIGINT NOT NULL, 
	distributor_profit_minor BIGINT NOT NULL, 
	method VARCHAR(20) NOT NULL, 
	reason VARCHAR NOT NULL, 
	explained JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_refund PRIMARY KEY (id), 
	CONSTRAINT ck_refund_parts CHECK (total_minor >= 0 AND mca_profit_minor >= 0 AND distributor_profit_minor >= 0 AND mca_profit_minor + distributor_profit_minor <= total_minor), 
	CONSTRAINT fk_refund_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_refund_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_refund_purchase_id FOREIGN KEY(purchase_id) REFERENCES purchase (id), 
	CONSTRAINT fk_refund_renewal_id FOREIGN KEY(renewal_id) REFERENCES renewal (id), 
	CONSTRAINT fk_refund_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_refund_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_refund_product_version_id FOREIGN KEY(product_version_id) REFERENCES product_version (id), 
	CONSTRAINT fk_refund_product_category_id FOREIGN KEY(product_category_id) REFERENCES product_category (id), 
	CONSTRAINT fk_refund_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id)
);

CREATE TABLE rate_proposal (
	id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	effective_at DATETIME NOT NULL, 
	price_minor BIGINT NOT NULL, 
	mca_commission_bp INTEGER NOT NULL, 
	distributor_commission_bp INTEGER NOT NULL, 
	cover_months INTEGER NOT NULL, 
	meta JSON NOT NULL, 
	proposed_by CHAR(32) NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	reason VARCHAR, 
	version_id CHAR(32), 
	CONSTRAINT pk_rate_proposal PRIMARY KEY (id), 
	CONSTRAINT ck_rate_proposal_state CHECK (state IN ('open', 'confirmed', 'refused', 'withdrawn')), 
	CONSTRAINT ck_rate_proposal_decided CHECK ((state = 'open') = (decided_at IS NULL)), 
	CONSTRAINT ck_rate_proposal_version CHECK ((state = 'confirmed') = (version_id IS NOT NULL)), 
	CONSTRAINT ck_rate_proposal_two_people CHECK (state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by), 
	CONSTRAINT fk_rate_proposal_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_rate_proposal_proposed_by FOREIGN KEY(proposed_by) REFERENCES staff (id), 
	CONSTRAINT fk_rate_proposal_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id), 
	CONSTRAINT fk_rate_proposal_version_id FOREIGN KEY(version_id) REFERENCES product_version (id)
);

CREATE TABLE event_cursor (
	chain INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	CONSTRAINT pk_event_cursor PRIMARY KEY (chain)
);

CREATE TABLE event_feed (
	id INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	swept_at DATETIME, 
	CONSTRAINT pk_event_feed PRIMARY KEY (id)
);

CREATE TABLE mail (
	id CHAR(32) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	attempts INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	next_try_at DATETIME, 
	leased_until DATETIME, 
	last_error VARCHAR, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	recipient VARCHAR(254) NOT NULL, 
	template VARCHAR(40) NOT NULL, 
	subject VARCHAR(200) NOT NULL, 
	body VARCHAR NOT NULL, about VARCHAR(80), sent_by VARCHAR(120), 
	CONSTRAINT pk_mail PRIMARY KEY (id), 
	CONSTRAINT ck_mail_state CHECK (state IN ('queued', 'sent', 'dead'))
);

CREATE TABLE event (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	position BIGINT NOT NULL, 
	type VARCHAR(40) NOT NULL, 
	object_type VARCHAR(20) NOT NULL, 
	object_id CHAR(32) NOT NULL, 
	sequence INTEGER NOT NULL, 
	origin VARCHAR(120) NOT NULL, 
	body BLOB NOT NULL, 
	created_at DATETIME NOT NULL, trace_id VARCHAR(32), 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT fk_event_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT uq_event_object_id_object_type_sequence UNIQUE (object_id, object_type, sequence), 
	CONSTRAINT uq_event_origin UNIQUE (origin), 
	CONSTRAINT uq_event_position UNIQUE (position)
);

CREATE TABLE webhook_endpoint (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	deleted_at DATETIME, 
	key_id CHAR(32), 
	url VARCHAR(2000) NOT NULL, 
	description VARCHAR(200) NOT NULL, 
	events JSON NOT NULL, 
	format VARCHAR(10) NOT NULL, 
	signature_header VARCHAR(64) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	secret VARCHAR NOT NULL, 
	old_secret VARCHAR, 
	old_secret_until DATETIME, 
	failing_since DATETIME, 
	last_success_at DATETIME, 
	last_failure_at DATETIME, 
	last_error VARCHAR, 
	is_slow BOOLEAN NOT NULL, 
	disabled_at DATETIME, 
	CONSTRAINT pk_webhook_endpoint PRIMARY KEY (id), 
	CONSTRAINT ck_webhook_endpoint_format CHECK (format IN ('standard', 'classic')), 
	CONSTRAINT ck_webhook_endpoint_state CHECK (state IN ('unverified', 'active', 'failing', 'disabled')), 
	CONSTRAINT fk_webhook_endpoint_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_webhook_endpoint_key_id FOREIGN KEY(key_id) REFERENCES api_key (id)
);

CREATE TABLE webhook_delivery (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	attempts INTEGER NOT NULL, 
	failures INTEGER NOT NULL, 
	next_try_at DATETIME, 
	leased_until DATETIME, 
	last_error VARCHAR, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	endpoint_id CHAR(32) NOT NULL, 
	event_id CHAR(32) NOT NULL, 
	event_type VARCHAR(40) NOT NULL, 
	is_replay BOOLEAN NOT NULL, 
	status INTEGER, 
	delivered_at DATETIME, 
	CONSTRAINT pk_webhook_delivery PRIMARY KEY (id), 
	CONSTRAINT ck_webhook_delivery_state CHECK (state IN ('queued', 'held', 'sent', 'dead', 'withdrawn')), 
	CONSTRAINT fk_webhook_delivery_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_webhook_delivery_endpoint_id FOREIGN KEY(endpoint_id) REFERENCES webhook_endpoint (id), 
	CONSTRAINT fk_webhook_delivery_event_id FOREIGN KEY(event_id) REFERENCES event (id), 
	CONSTRAINT uq_webhook_delivery_endpoint_id_event_id UNIQUE (endpoint_id, event_id)
);

CREATE TABLE webhook_try (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	delivery_id CHAR(32) NOT NULL, 
	attempt INTEGER NOT NULL, 
	started_at DATETIME NOT NULL, 
	milliseconds INTEGER NOT NULL, 
	status INTEGER, 
	error VARCHAR, 
	answer VARCHAR NOT NULL, 
	CONSTRAINT pk_webhook_try PRIMARY KEY (id), 
	CONSTRAINT fk_webhook_try_delivery_id FOREIGN KEY(delivery_id) REFERENCES webhook_delivery (id), 
	CONSTRAINT fk_webhook_try_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id)
);

CREATE TABLE adjustment_proposal (
	id CHAR(32) NOT NULL, 
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	total_minor BIGINT NOT NULL, 
	mca_profit_minor BIGINT NOT NULL, 
	distributor_profit_minor BIGINT NOT NULL, 
	corrects_kind VARCHAR(10) NOT NULL, 
	corrects_id CHAR(32) NOT NULL, 
	reason VARCHAR NOT NULL, 
	proposed_by CHAR(32) NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	refusal VARCHAR, 
	CONSTRAINT pk_adjustment_proposal PRIMARY KEY (id), 
	CONSTRAINT ck_adjustment_proposal_state CHECK (state IN ('open', 'confirmed', 'refused', 'withdrawn')), 
	CONSTRAINT ck_adjustment_proposal_corrects_kind CHECK (corrects_kind IN ('purchase', 'renewal', 'refund', 'adjustment')), 
	CONSTRAINT ck_adjustment_proposal_decided CHECK ((state = 'open') = (decided_at IS NULL)), 
	CONSTRAINT ck_adjustment_proposal_two_people CHECK (state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by), 
	CONSTRAINT ck_adjustment_proposal_changes_something CHECK (total_minor <> 0 OR mca_profit_minor <> 0 OR distributor_profit_minor <> 0), 
	CONSTRAINT fk_adjustment_proposal_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_adjustment_proposal_proposed_by FOREIGN KEY(proposed_by) REFERENCES staff (id), 
	CONSTRAINT fk_adjustment_proposal_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id)
);

CREATE TABLE adjustment (
	id CHAR(32) NOT NULL, 
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	total_minor BIGINT NOT NULL, 
	mca_profit_minor BIGINT NOT NULL, 
	distributor_profit_minor BIGINT NOT NULL, 
	corrects_kind VARCHAR(10) NOT NULL, 
	corrects_id CHAR(32) NOT NULL, 
	reason VARCHAR NOT NULL, 
	proposed_by CHAR(32) NOT NULL, 
	proposal_id CHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	purchase_id CHAR(32) NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	product_version_id CHAR(32) NOT NULL, 
	product_category_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	approved_by CHAR(32) NOT NULL, 
	renewal_id CHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_adjustment PRIMARY KEY (id), 
	CONSTRAINT ck_adjustment_corrects_kind CHECK (corrects_kind IN ('purchase', 'renewal', 'refund', 'adjustment')), 
	CONSTRAINT ck_adjustment_two_people CHECK (approved_by <> proposed_by), 
	CONSTRAINT fk_adjustment_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_adjustment_purchase_id FOREIGN KEY(purchase_id) REFERENCES purchase (id), 
	CONSTRAINT fk_adjustment_renewal_id FOREIGN KEY(renewal_id) REFERENCES renewal (id), 
	CONSTRAINT fk_adjustment_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_adjustment_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_adjustment_product_version_id FOREIGN KEY(product_version_id) REFERENCES product_version (id), 
	CONSTRAINT fk_adjustment_product_category_id FOREIGN KEY(product_category_id) REFERENCES product_category (id), 
	CONSTRAINT fk_adjustment_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_adjustment_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_adjustment_proposal_id FOREIGN KEY(proposal_id) REFERENCES adjustment_proposal (id), 
	CONSTRAINT fk_adjustment_proposed_by FOREIGN KEY(proposed_by) REFERENCES staff (id), 
	CONSTRAINT fk_adjustment_approved_by FOREIGN KEY(approved_by) REFERENCES staff (id), 
	CONSTRAINT uq_adjustment_proposal_id UNIQUE (proposal_id)
);

CREATE TABLE agreement (
	id CHAR(32) NOT NULL, 
	account VARCHAR(11) NOT NULL, 
	distributor_id CHAR(32), 
	provider_id CHAR(32), 
	number VARCHAR(60) NOT NULL, 
	starts_on DATE NOT NULL, 
	ends_on DATE, 
	contact_email VARCHAR(254), 
	licence_number VARCHAR(60), 
	licence_expires_on DATE, 
	tin VARCHAR(20), 
	is_resident BOOLEAN NOT NULL, 
	is_small BOOLEAN NOT NULL, 
	charges_vat BOOLEAN NOT NULL, 
	collects VARCHAR(11) NOT NULL, 
	class_of_business VARCHAR(60), 
	remittance_days INTEGER NOT NULL, 
	bordereau_due_day INTEGER NOT NULL, 
	made_by CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_agreement PRIMARY KEY (id), 
	CONSTRAINT ck_agreement_collects CHECK (collects IN ('platform', 'distributor')), 
	CONSTRAINT ck_agreement_term CHECK (ends_on IS NULL OR ends_on >= starts_on), 
	CONSTRAINT ck_agreement_remittance_days CHECK (remittance_days BETWEEN 1 AND 365), 
	CONSTRAINT ck_agreement_bordereau_due_day CHECK (bordereau_due_day BETWEEN 1 AND 28), 
	CONSTRAINT ck_agreement_one_party CHECK ((account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL) OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)), 
	CONSTRAINT ck_agreement_account CHECK (account IN ('distributor', 'provider')), 
	CONSTRAINT fk_agreement_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_agreement_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_agreement_made_by FOREIGN KEY(made_by) REFERENCES staff (id)
);

CREATE TABLE bank_account (
	id CHAR(32) NOT NULL, 
	account VARCHAR(11) NOT NULL, 
	distributor_id CHAR(32), 
	provider_id CHAR(32), 
	bank_name VARCHAR(100) NOT NULL, 
	account_name VARCHAR(100) NOT NULL, 
	hint VARCHAR(4) NOT NULL, 
	sealed VARCHAR NOT NULL, 
	proposed_by CHAR(32) NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	usable_from DATETIME, 
	CONSTRAINT pk_bank_account PRIMARY KEY (id), 
	CONSTRAINT ck_bank_account_state CHECK (state IN ('open', 'confirmed', 'refused', 'withdrawn')), 
	CONSTRAINT ck_bank_account_decided CHECK ((state = 'open') = (decided_at IS NULL)), 
	CONSTRAINT ck_bank_account_rests CHECK ((state = 'confirmed') = (usable_from IS NOT NULL)), 
	CONSTRAINT ck_bank_account_two_people CHECK (state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by), 
	CONSTRAINT ck_bank_account_one_party CHECK ((account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL) OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)), 
	CONSTRAINT ck_bank_account_account CHECK (account IN ('distributor', 'provider')), 
	CONSTRAINT fk_bank_account_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_bank_account_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_bank_account_proposed_by FOREIGN KEY(proposed_by) REFERENCES staff (id), 
	CONSTRAINT fk_bank_account_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id)
);

CREATE TABLE tax_rate (
	id CHAR(32) NOT NULL, 
	kind VARCHAR(11) NOT NULL, 
	effective_on DATE NOT NULL, 
	resident_bp INTEGER NOT NULL, 
	non_resident_bp INTEGER NOT NULL, 
	without_tin_factor INTEGER NOT NULL, 
	small_limit_minor BIGINT, 
	source VARCHAR NOT NULL, 
	CONSTRAINT pk_tax_rate PRIMARY KEY (id), 
	CONSTRAINT ck_tax_rate_kind CHECK (kind IN ('withholding', 'vat')), 
	CONSTRAINT uq_tax_rate_kind_effective_on UNIQUE (kind, effective_on)
);

CREATE TABLE statement (
	id CHAR(32) NOT NULL, 
	account VARCHAR(11) NOT NULL, 
	distributor_id CHAR(32), 
	provider_id CHAR(32), 
	number INTEGER NOT NULL, 
	month DATE NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	opening_minor BIGINT NOT NULL, 
	premium_minor BIGINT NOT NULL, 
	earned_minor BIGINT NOT NULL, 
	clawback_minor BIGINT NOT NULL, 
	adjusted_minor BIGINT NOT NULL, 
	vat_minor BIGINT NOT NULL, 
	withheld_minor BIGINT NOT NULL, 
	paid_minor BIGINT NOT NULL, 
	closing_minor BIGINT NOT NULL, 
	lines INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	facts JSON NOT NULL, 
	reverses_id CHAR(32), 
	prepared_by CHAR(32) NOT NULL, 
	prepared_at DATETIME NOT NULL, 
	approved_by CHAR(32), 
	approved_at DATETIME, 
	sent_by CHAR(32), 
	sent_at DATETIME, 
	note VARCHAR, 
	CONSTRAINT pk_statement PRIMARY KEY (id), 
	CONSTRAINT ck_statement_one_party CHECK ((account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL) OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)), 
	CONSTRAINT ck_statement_account CHECK (account IN ('distributor', 'provider')), 
	CONSTRAINT ck_statement_state CHECK (state IN ('Prepared', 'Approved', 'Sent', 'Part paid', 'Paid', 'Disputed', 'Void')), 
	CONSTRAINT ck_statement_balance CHECK (closing_minor = opening_minor + earned_minor + clawback_minor + adjusted_minor + premium_minor + vat_minor - withheld_minor - paid_minor), 
	CONSTRAINT ck_statement_two_people CHECK (approved_by <> prepared_by), 
	CONSTRAINT ck_statement_approved CHECK ((approved_by IS NULL) = (approved_at IS NULL)), 
	CONSTRAINT ck_statement_in_two_hands CHECK (state NOT IN ('Approved', 'Sent', 'Part paid', 'Paid') OR approved_by IS NOT NULL), 
	CONSTRAINT fk_statement_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_statement_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_statement_reverses_id FOREIGN KEY(reverses_id) REFERENCES statement (id), 
	CONSTRAINT fk_statement_prepared_by FOREIGN KEY(prepared_by) REFERENCES staff (id), 
	CONSTRAINT fk_statement_approved_by FOREIGN KEY(approved_by) REFERENCES staff (id), 
	CONSTRAINT fk_statement_sent_by FOREIGN KEY(sent_by) REFERENCES staff (id)
);

CREATE TABLE statement_line (
	statement_id CHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	account VARCHAR(11) NOT NULL, 
	movement_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	other_id CHAR(32) NOT NULL, 
	kind VARCHAR(12) NOT NULL, 
	occurred_at DATETIME NOT NULL, 
	policy_number VARCHAR(60), 
	customer VARCHAR NOT NULL, 
	effective_at DATETIME, 
	expires_at DATETIME, 
	premium_minor BIGINT NOT NULL, 
	commission_minor BIGINT NOT NULL, 
	vat_minor BIGINT NOT NULL, 
	withheld_minor BIGINT NOT NULL, 
	net_minor BIGINT NOT NULL, 
	rate_bp INTEGER NOT NULL, 
	released_by CHAR(32), 
	CONSTRAINT pk_statement_line PRIMARY KEY (statement_id, position), 
	CONSTRAINT fk_statement_line_statement_id FOREIGN KEY(statement_id) REFERENCES statement (id) DEFERRABLE INITIALLY DEFERRED, 
	CONSTRAINT fk_statement_line_released_by FOREIGN KEY(released_by) REFERENCES statement (id), 
	CONSTRAINT fk_statement_line_product_id FOREIGN KEY(product_id) REFERENCES product (id)
)
 WITHOUT ROWID

;

CREATE TABLE claim_override (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	event_id CHAR(32) NOT NULL, 
	check_key VARCHAR(30) NOT NULL, 
	is_failed BOOLEAN NOT NULL, 
	detail VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	duplicates JSON NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_override PRIMARY KEY (id), 
	CONSTRAINT fk_claim_override_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_override_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_override_event_id FOREIGN KEY(event_id) REFERENCES claim_event (id), 
	CONSTRAINT fk_claim_override_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE claim_reserve (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	change_minor BIGINT NOT NULL, 
	reason VARCHAR NOT NULL, 
	staff_id CHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_reserve PRIMARY KEY (id), 
	CONSTRAINT ck_claim_reserve_change CHECK (change_minor <> 0), 
	CONSTRAINT fk_claim_reserve_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_reserve_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_reserve_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE claim_referral (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	to_status VARCHAR(30) NOT NULL, 
	amount_minor BIGINT, 
	note VARCHAR NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	closed_by CHAR(32), asks_role VARCHAR(10) DEFAULT 'supervisor' NOT NULL, 
	CONSTRAINT pk_claim_referral PRIMARY KEY (id), 
	CONSTRAINT fk_claim_referral_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_referral_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_referral_closed_by FOREIGN KEY(closed_by) REFERENCES staff (id), 
	CONSTRAINT fk_claim_referral_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE "claim_payment" (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	amount_minor BIGINT NOT NULL, 
	reference VARCHAR(60) NOT NULL, 
	reference_key VARCHAR NOT NULL, 
	paid_by CHAR(32), 
	created_at DATETIME NOT NULL, 
	reverses CHAR(32), payee_id CHAR(32), method VARCHAR(20), value_on DATE, file_id CHAR(32), 
	CONSTRAINT pk_claim_payment PRIMARY KEY (id), 
	CONSTRAINT fk_claim_payment_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_payment_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_payment_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT uq_claim_payment_provider_id_is_live_reference_key UNIQUE (provider_id, is_live, reference_key), 
	CONSTRAINT fk_claim_payment_paid_by FOREIGN KEY(paid_by) REFERENCES staff (id), 
	CONSTRAINT ck_claim_payment_amount CHECK ((reverses IS NULL) = (amount_minor > 0) AND amount_minor <> 0), 
	CONSTRAINT uq_claim_payment_reverses UNIQUE (reverses)
);

CREATE TABLE heartbeat (
	name VARCHAR(80) NOT NULL, 
	release VARCHAR(40) NOT NULL, 
	started_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	CONSTRAINT pk_heartbeat PRIMARY KEY (name)
);

CREATE TABLE sales_target (
	id CHAR(32) NOT NULL, 
	distributor_id CHAR(32), 
	provider_id CHAR(32), 
	month DATE NOT NULL, 
	amount_minor BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_sales_target PRIMARY KEY (id), 
	CONSTRAINT ck_sales_target_one_member CHECK ((distributor_id IS NULL) <> (provider_id IS NULL)), 
	CONSTRAINT ck_sales_target_amount CHECK (amount_minor > 0), 
	CONSTRAINT fk_sales_target_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_sales_target_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT uq_sales_target_distributor_id_month UNIQUE (distributor_id, month), 
	CONSTRAINT uq_sales_target_provider_id_month UNIQUE (provider_id, month)
);

CREATE TABLE sale_draft (
	id CHAR(32) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	cover VARCHAR(60) NOT NULL, 
	distributor_id CHAR(32) NOT NULL, 
	product_id CHAR(32) NOT NULL, 
	sealed VARCHAR NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_sale_draft PRIMARY KEY (id), 
	CONSTRAINT fk_sale_draft_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_sale_draft_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT uq_sale_draft_staff_id_is_live_cover UNIQUE (staff_id, is_live, cover)
);

CREATE TABLE renewal_call (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	expiration_at DATETIME NOT NULL, 
	outcome VARCHAR(20) NOT NULL, 
	note VARCHAR(500), 
	caller_id CHAR(32) NOT NULL, 
	owner_id CHAR(32) NOT NULL, 
	call_again_on DATE, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_renewal_call PRIMARY KEY (id), 
	CONSTRAINT ck_renewal_call_outcome CHECK (outcome IN ('will_renew', 'thinking', 'refused', 'no_answer', 'wrong_number')), 
	CONSTRAINT fk_renewal_call_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_renewal_call_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id)
);

CREATE TABLE claim_payee (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	bank_name VARCHAR(200), 
	hint VARCHAR(4), 
	sealed VARCHAR, 
	reason VARCHAR(500) NOT NULL, 
	staff_id CHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_payee PRIMARY KEY (id), 
	CONSTRAINT fk_claim_payee_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_payee_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_payee_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE claim_task (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	text VARCHAR(500) NOT NULL, 
	due_on DATE NOT NULL, 
	assigned_to CHAR(32) NOT NULL, 
	made_by CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	done_at DATETIME, 
	done_by CHAR(32), 
	CONSTRAINT pk_claim_task PRIMARY KEY (id), 
	CONSTRAINT fk_claim_task_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_task_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_task_assigned_to FOREIGN KEY(assigned_to) REFERENCES staff (id), 
	CONSTRAINT fk_claim_task_made_by FOREIGN KEY(made_by) REFERENCES staff (id), 
	CONSTRAINT fk_claim_task_done_by FOREIGN KEY(done_by) REFERENCES staff (id)
);

CREATE TABLE payout_batch (
	id CHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	state VARCHAR(9) NOT NULL, 
	payments INTEGER NOT NULL, 
	net_minor BIGINT NOT NULL, 
	sha256 VARCHAR(64), 
	prepared_by CHAR(32) NOT NULL, 
	prepared_at DATETIME NOT NULL, 
	approved_by CHAR(32), 
	approved_at DATETIME, 
	note VARCHAR, 
	CONSTRAINT pk_payout_batch PRIMARY KEY (id), 
	CONSTRAINT ck_payout_batch_state CHECK (state IN ('Prepared', 'Approved', 'Withdrawn')), 
	CONSTRAINT ck_payout_batch_two_people CHECK (approved_by <> prepared_by), 
	CONSTRAINT ck_payout_batch_approved CHECK ((approved_by IS NULL) = (approved_at IS NULL)), 
	CONSTRAINT ck_payout_batch_file CHECK (state <> 'Approved' OR (approved_by IS NOT NULL AND sha256 IS NOT NULL)), 
	CONSTRAINT fk_payout_batch_prepared_by FOREIGN KEY(prepared_by) REFERENCES staff (id), 
	CONSTRAINT fk_payout_batch_approved_by FOREIGN KEY(approved_by) REFERENCES staff (id), 
	CONSTRAINT uq_payout_batch_number UNIQUE (number)
);

CREATE TABLE payment (
	id CHAR(32) NOT NULL, 
	account VARCHAR(11) NOT NULL, 
	distributor_id CHAR(32), 
	provider_id CHAR(32), 
	direction VARCHAR(3) NOT NULL, 
	statement_id CHAR(32) NOT NULL, 
	batch_id CHAR(32), 
	bank_account_id CHAR(32), 
	gross_minor BIGINT NOT NULL, 
	vat_minor BIGINT NOT NULL, 
	withheld_minor BIGINT NOT NULL, 
	net_minor BIGINT NOT NULL, 
	state VARCHAR(9) NOT NULL, 
	bank_reference VARCHAR(60), 
	reference_key VARCHAR(60), 
	value_on DATE, 
	prepared_by CHAR(32) NOT NULL, 
	prepared_at DATETIME NOT NULL, 
	approved_by CHAR(32), 
	approved_at DATETIME, 
	confirmed_by CHAR(32), 
	confirmed_at DATETIME, 
	returned_by CHAR(32), 
	returned_on DATE, 
	note VARCHAR, 
	CONSTRAINT pk_payment PRIMARY KEY (id), 
	CONSTRAINT ck_payment_one_party CHECK ((account = 'distributor' AND distributor_id IS NOT NULL AND provider_id IS NULL) OR (account = 'provider' AND provider_id IS NOT NULL AND distributor_id IS NULL)), 
	CONSTRAINT ck_payment_account CHECK (account IN ('distributor', 'provider')), 
	CONSTRAINT ck_payment_direction CHECK (direction IN ('out', 'in')), 
	CONSTRAINT ck_payment_state CHECK (state IN ('Prepared', 'Approved', 'Confirmed', 'Returned', 'Withdrawn')), 
	CONSTRAINT ck_payment_two_people CHECK (approved_by <> prepared_by), 
	CONSTRAINT ck_payment_approved CHECK ((approved_by IS NULL) = (approved_at IS NULL)), 
	CONSTRAINT ck_payment_parts CHECK (net_minor = gross_minor + vat_minor - withheld_minor), 
	CONSTRAINT ck_payment_sign CHECK (net_minor <> 0 AND (direction = 'out') = (net_minor > 0)), 
	CONSTRAINT ck_payment_payee CHECK (direction = 'in' OR bank_account_id IS NOT NULL), 
	CONSTRAINT ck_payment_in_two_hands CHECK (state NOT IN ('Approved', 'Confirmed') OR approved_by IS NOT NULL), 
	CONSTRAINT ck_payment_confirmed CHECK (state <> 'Confirmed' OR (confirmed_by IS NOT NULL AND bank_reference IS NOT NULL AND value_on IS NOT NULL)), 
	CONSTRAINT ck_payment_returned CHECK ((state = 'Returned') = (returned_on IS NOT NULL)), 
	CONSTRAINT fk_payment_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_payment_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_payment_statement_id FOREIGN KEY(statement_id) REFERENCES statement (id), 
	CONSTRAINT fk_payment_batch_id FOREIGN KEY(batch_id) REFERENCES payout_batch (id), 
	CONSTRAINT fk_payment_bank_account_id FOREIGN KEY(bank_account_id) REFERENCES bank_account (id), 
	CONSTRAINT fk_payment_prepared_by FOREIGN KEY(prepared_by) REFERENCES staff (id), 
	CONSTRAINT fk_payment_approved_by FOREIGN KEY(approved_by) REFERENCES staff (id), 
	CONSTRAINT fk_payment_confirmed_by FOREIGN KEY(confirmed_by) REFERENCES staff (id), 
	CONSTRAINT fk_payment_returned_by FOREIGN KEY(returned_by) REFERENCES staff (id)
);

CREATE TABLE payment_settlement (
	payment_id CHAR(32) NOT NULL, 
	statement_id CHAR(32) NOT NULL, 
	net_minor BIGINT NOT NULL, 
	vat_minor BIGINT NOT NULL, 
	withheld_minor BIGINT NOT NULL, 
	CONSTRAINT pk_payment_settlement PRIMARY KEY (payment_id, statement_id), 
	CONSTRAINT fk_payment_settlement_payment_id FOREIGN KEY(payment_id) REFERENCES payment (id), 
	CONSTRAINT fk_payment_settlement_statement_id FOREIGN KEY(statement_id) REFERENCES statement (id)
);

CREATE TABLE statement_payment (
	statement_id CHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	payment_id CHAR(32) NOT NULL, 
	entry VARCHAR(8) NOT NULL, 
	amount_minor BIGINT NOT NULL, 
	value_on DATE NOT NULL, 
	reference VARCHAR(60) NOT NULL, 
	released_by CHAR(32), 
	CONSTRAINT pk_statement_payment PRIMARY KEY (statement_id, position), 
	CONSTRAINT ck_statement_payment_entry CHECK (entry IN ('paid', 'returned')), 
	CONSTRAINT fk_statement_payment_statement_id FOREIGN KEY(statement_id) REFERENCES statement (id) DEFERRABLE INITIALLY DEFERRED, 
	CONSTRAINT fk_statement_payment_payment_id FOREIGN KEY(payment_id) REFERENCES payment (id), 
	CONSTRAINT fk_statement_payment_released_by FOREIGN KEY(released_by) REFERENCES statement (id)
);

CREATE TABLE bordereau (
	id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	kind VARCHAR(7) NOT NULL, 
	number INTEGER NOT NULL, 
	month DATE NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	rows INTEGER NOT NULL, 
	totals JSON NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	facts JSON NOT NULL, 
	issued_by CHAR(32) NOT NULL, 
	issued_at DATETIME NOT NULL, 
	sent_by CHAR(32), 
	sent_at DATETIME, 
	answered_by CHAR(32), 
	answered_at DATETIME, 
	note VARCHAR, 
	CONSTRAINT pk_bordereau PRIMARY KEY (id), 
	CONSTRAINT ck_bordereau_kind CHECK (kind IN ('premium', 'claims')), 
	CONSTRAINT ck_bordereau_state CHECK (state IN ('Issued', 'Sent', 'Acknowledged', 'Queried')), 
	CONSTRAINT ck_bordereau_sent CHECK ((state = 'Issued') = (sent_at IS NULL)), 
	CONSTRAINT fk_bordereau_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_bordereau_issued_by FOREIGN KEY(issued_by) REFERENCES staff (id), 
	CONSTRAINT fk_bordereau_sent_by FOREIGN KEY(sent_by) REFERENCES staff (id), 
	CONSTRAINT fk_bordereau_answered_by FOREIGN KEY(answered_by) REFERENCES staff (id), 
	CONSTRAINT uq_bordereau_provider_id_kind_number UNIQUE (provider_id, kind, number), 
	CONSTRAINT uq_bordereau_provider_id_kind_month UNIQUE (provider_id, kind, month)
);

CREATE TABLE bordereau_line (
	bordereau_id CHAR(32) NOT NULL, 
	position INTEGER NOT NULL, 
	kind VARCHAR(7) NOT NULL, 
	subject_id CHAR(32) NOT NULL, 
	amount_minor BIGINT NOT NULL, 
	cells JSON NOT NULL, 
	CONSTRAINT pk_bordereau_line PRIMARY KEY (bordereau_id, position), 
	CONSTRAINT ck_bordereau_line_kind CHECK (kind IN ('premium', 'claims')), 
	CONSTRAINT fk_bordereau_line_bordereau_id FOREIGN KEY(bordereau_id) REFERENCES bordereau (id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE file_mapping (
	"key" VARCHAR(60) NOT NULL, 
	kind VARCHAR(7) NOT NULL, 
	provider_id CHAR(32), 
	columns JSON NOT NULL, 
	amount_is VARCHAR(5) NOT NULL, 
	tolerance_minor BIGINT NOT NULL, 
	timing_days INTEGER NOT NULL, 
	changed_by CHAR(32) NOT NULL, 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_file_mapping PRIMARY KEY ("key"), 
	CONSTRAINT ck_file_mapping_kind CHECK (kind IN ('insurer', 'bank')), 
	CONSTRAINT fk_file_mapping_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_file_mapping_changed_by FOREIGN KEY(changed_by) REFERENCES staff (id)
);

CREATE TABLE reconciliation (
	id CHAR(32) NOT NULL, 
	kind VARCHAR(7) NOT NULL, 
	provider_id CHAR(32), 
	month DATE NOT NULL, 
	file_name VARCHAR(200) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	columns JSON NOT NULL, 
	amount_is VARCHAR(5) NOT NULL, 
	tolerance_minor BIGINT NOT NULL, 
	timing_days INTEGER NOT NULL, 
	ours_rows INTEGER NOT NULL, 
	theirs_rows INTEGER NOT NULL, 
	matched_rows INTEGER NOT NULL, 
	ours_minor BIGINT NOT NULL, 
	theirs_minor BIGINT NOT NULL, 
	tolerated_minor BIGINT NOT NULL, 
	made_by CHAR(32) NOT NULL, 
	made_at DATETIME NOT NULL, 
	CONSTRAINT pk_reconciliation PRIMARY KEY (id), 
	CONSTRAINT ck_reconciliation_kind CHECK (kind IN ('insurer', 'bank')), 
	CONSTRAINT ck_reconciliation_party CHECK ((kind = 'insurer') = (provider_id IS NOT NULL)), 
	CONSTRAINT fk_reconciliation_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_reconciliation_made_by FOREIGN KEY(made_by) REFERENCES staff (id), 
	CONSTRAINT uq_reconciliation_sha256_month_kind_provider_id UNIQUE (sha256, month, kind, provider_id)
);

CREATE TABLE difference (
	id CHAR(32) NOT NULL, 
	reconciliation_id CHAR(32) NOT NULL, 
	result VARCHAR(14) NOT NULL, 
	policy_number VARCHAR(120) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	ours_minor BIGINT NOT NULL, 
	theirs_minor BIGINT NOT NULL, 
	difference_minor BIGINT NOT NULL, 
	detail VARCHAR NOT NULL, 
	rows JSON NOT NULL, 
	subjects JSON NOT NULL, 
	state VARCHAR(15) NOT NULL, 
	owner_id CHAR(32), 
	cause VARCHAR(40), 
	note VARCHAR, 
	adjustment_id CHAR(32), 
	asked_by CHAR(32), 
	decided_by CHAR(32), 
	changed_at DATETIME NOT NULL, 
	CONSTRAINT pk_difference PRIMARY KEY (id), 
	CONSTRAINT ck_difference_result CHECK (result IN ('amount differs', 'rate differs', 'only ours', 'only theirs', 'timing', 'not checked')), 
	CONSTRAINT ck_difference_state CHECK (state IN ('Open', 'Explained', 'Write-off asked', 'Adjusted', 'Written off')), 
	CONSTRAINT ck_difference_difference CHECK (difference_minor = ours_minor - theirs_minor), 
	CONSTRAINT ck_difference_two_people CHECK (state <> 'Written off' OR (asked_by IS NOT NULL AND decided_by IS NOT NULL AND decided_by <> asked_by)), 
	CONSTRAINT ck_difference_adjusted CHECK ((state = 'Adjusted') = (adjustment_id IS NOT NULL)), 
	CONSTRAINT fk_difference_reconciliation_id FOREIGN KEY(reconciliation_id) REFERENCES reconciliation (id), 
	CONSTRAINT fk_difference_owner_id FOREIGN KEY(owner_id) REFERENCES staff (id), 
	CONSTRAINT fk_difference_adjustment_id FOREIGN KEY(adjustment_id) REFERENCES adjustment (id), 
	CONSTRAINT fk_difference_asked_by FOREIGN KEY(asked_by) REFERENCES staff (id), 
	CONSTRAINT fk_difference_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id)
);

CREATE TABLE month_step (
	id CHAR(32) NOT NULL, 
	month DATE NOT NULL, 
	position INTEGER NOT NULL, 
	state VARCHAR(9) NOT NULL, 
	"by" CHAR(32) NOT NULL, 
	before_by CHAR(32), 
	at DATETIME NOT NULL, 
	note VARCHAR, 
	sha256 VARCHAR(64), 
	facts_kept BOOLEAN NOT NULL, 
	facts JSON NOT NULL, 
	CONSTRAINT pk_month_step PRIMARY KEY (id), 
	CONSTRAINT ck_month_step_state CHECK (state IN ('Open', 'Closing', 'Closed', 'Reopening', 'Reopened')), 
	CONSTRAINT ck_month_step_two_people CHECK ((state <> 'Reopened' AND (state <> 'Closed' OR facts_kept)) OR (before_by IS NOT NULL AND before_by <> by)), 
	CONSTRAINT ck_month_step_journal CHECK (state <> 'Closed' OR sha256 IS NOT NULL), 
	CONSTRAINT fk_month_step_by FOREIGN KEY("by") REFERENCES staff (id), 
	CONSTRAINT fk_month_step_before_by FOREIGN KEY(before_by) REFERENCES staff (id), 
	CONSTRAINT uq_month_step_month_position UNIQUE (month, position)
);

CREATE TABLE saved_view (
	id CHAR(32) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	screen VARCHAR(60) NOT NULL, 
	name VARCHAR(60) NOT NULL, 
	shared_role VARCHAR(20), 
	parameters JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_saved_view PRIMARY KEY (id), 
	CONSTRAINT uq_saved_view_staff_id_screen_name UNIQUE (staff_id, screen, name)
);

CREATE TABLE start_view (
	staff_id CHAR(32) NOT NULL, 
	screen VARCHAR(60) NOT NULL, 
	view_id CHAR(32) NOT NULL, 
	CONSTRAINT pk_start_view PRIMARY KEY (staff_id, screen), 
	CONSTRAINT fk_start_view_view_id FOREIGN KEY(view_id) REFERENCES saved_view (id) ON DELETE CASCADE
);

CREATE TABLE mail_text (
	name VARCHAR(40) NOT NULL, 
	subject VARCHAR(150) NOT NULL, 
	body VARCHAR NOT NULL, 
	version INTEGER NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_mail_text PRIMARY KEY (name)
);

CREATE TABLE renewal_reminder (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	expiration_at DATETIME NOT NULL, 
	days_before INTEGER NOT NULL, 
	mail_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_renewal_reminder PRIMARY KEY (id), 
	CONSTRAINT fk_renewal_reminder_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_renewal_reminder_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT uq_renewal_reminder_policy_id_expiration_at_days_before UNIQUE (policy_id, expiration_at, days_before)
);

CREATE TABLE reminder_opt_out (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_reminder_opt_out PRIMARY KEY (customer_id), 
	CONSTRAINT fk_reminder_opt_out_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_reminder_opt_out_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id)
);

CREATE TABLE customer_note (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	text VARCHAR(1000) NOT NULL, 
	author_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_customer_note PRIMARY KEY (id), 
	CONSTRAINT ck_customer_note_kind CHECK (kind IN ('note', 'call', 'message', 'visit')), 
	CONSTRAINT fk_customer_note_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_customer_note_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id)
);

CREATE TABLE compliance_figure (
	id CHAR(32) NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	effective_on DATE NOT NULL, 
	amount INTEGER NOT NULL, 
	source VARCHAR NOT NULL, 
	set_by CHAR(32), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_compliance_figure PRIMARY KEY (id), 
	CONSTRAINT fk_compliance_figure_set_by FOREIGN KEY(set_by) REFERENCES staff (id), 
	CONSTRAINT uq_compliance_figure_name_effective_on UNIQUE (name, effective_on)
);

CREATE TABLE data_request (
	id CHAR(32) NOT NULL, 
	number VARCHAR(20) NOT NULL, 
	kind VARCHAR(15) NOT NULL, 
	state VARCHAR(15) NOT NULL, 
	name VARCHAR NOT NULL, 
	email VARCHAR(254), 
	phone VARCHAR(32), 
	subject_key VARCHAR(64) NOT NULL, 
	details VARCHAR NOT NULL, 
	customers JSON NOT NULL, 
	received_at DATETIME NOT NULL, 
	acknowledge_by DATE NOT NULL, 
	due_on DATE NOT NULL, 
	extended_to DATE, 
	extension_reason VARCHAR, 
	acknowledged_at DATETIME, 
	identity_method VARCHAR(40), 
	identity_by CHAR(32), 
	identity_at DATETIME, 
	refusal_code VARCHAR(30), 
	outcome VARCHAR, 
	answered_by CHAR(32), 
	answered_at DATETIME, 
	created_by CHAR(32) NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_data_request PRIMARY KEY (id), 
	CONSTRAINT ck_data_request_answered CHECK ((state IN ('answered', 'refused')) = (answered_at IS NOT NULL)), 
	CONSTRAINT ck_data_request_kind CHECK (kind IN ('access', 'copy', 'rectification', 'erasure', 'restriction', 'objection', 'grievance')), 
	CONSTRAINT ck_data_request_state CHECK (state IN ('received', 'acknowledged', 'answered', 'refused', 'withdrawn')), 
	CONSTRAINT ck_data_request_extension CHECK ((extended_to IS NULL) = (extension_reason IS NULL)), 
	CONSTRAINT ck_data_request_identity CHECK ((identity_by IS NULL) = (identity_at IS NULL)), 
	CONSTRAINT fk_data_request_answered_by FOREIGN KEY(answered_by) REFERENCES staff (id), 
	CONSTRAINT fk_data_request_created_by FOREIGN KEY(created_by) REFERENCES staff (id), 
	CONSTRAINT fk_data_request_identity_by FOREIGN KEY(identity_by) REFERENCES staff (id), 
	CONSTRAINT uq_data_request_number UNIQUE (number)
);

CREATE TABLE erasure (
	id CHAR(32) NOT NULL, 
	number VARCHAR(20) NOT NULL, 
	record_class VARCHAR(20) NOT NULL, 
	request_id CHAR(32), 
	customers JSON NOT NULL, 
	before_at DATETIME, 
	reason VARCHAR NOT NULL, 
	is_early BOOLEAN NOT NULL, 
	is_restored BOOLEAN NOT NULL, 
	prepared_by CHAR(32), 
	prepared_at DATETIME NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	refusal VARCHAR, 
	outcome JSON NOT NULL, 
	sha256 VARCHAR(64), 
	CONSTRAINT pk_erasure PRIMARY KEY (id), 
	CONSTRAINT ck_erasure_certified CHECK ((state = 'erased') = (sha256 IS NOT NULL)), 
	CONSTRAINT ck_erasure_by_whom CHECK (is_restored OR (prepared_by IS NOT NULL AND (state <> 'erased' OR decided_by IS NOT NULL))), 
	CONSTRAINT ck_erasure_decided CHECK ((state = 'open') = (decided_at IS NULL)), 
	CONSTRAINT ck_erasure_state CHECK (state IN ('open', 'erased', 'refused', 'withdrawn')), 
	CONSTRAINT ck_erasure_two_people CHECK (state NOT IN ('erased', 'refused') OR decided_by <> prepared_by), 
	CONSTRAINT fk_erasure_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id), 
	CONSTRAINT fk_erasure_prepared_by FOREIGN KEY(prepared_by) REFERENCES staff (id), 
	CONSTRAINT fk_erasure_request_id FOREIGN KEY(request_id) REFERENCES data_request (id), 
	CONSTRAINT uq_erasure_number UNIQUE (number)
);

CREATE TABLE erasure_window (
	id INTEGER NOT NULL, 
	CONSTRAINT pk_erasure_window PRIMARY KEY (id)
);

CREATE TABLE redaction (
	kind VARCHAR(20) NOT NULL, 
	record_id CHAR(32) NOT NULL, 
	erasure_id CHAR(32) NOT NULL, 
	seal VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_redaction PRIMARY KEY (kind, record_id), 
	CONSTRAINT fk_redaction_erasure_id FOREIGN KEY(erasure_id) REFERENCES erasure (id)
);

CREATE TABLE legal_hold (
	id CHAR(32) NOT NULL, 
	customer_id CHAR(32) NOT NULL, 
	reason VARCHAR NOT NULL, 
	set_by CHAR(32) NOT NULL, 
	set_at DATETIME NOT NULL, 
	lifted_by CHAR(32), 
	lifted_at DATETIME, 
	CONSTRAINT pk_legal_hold PRIMARY KEY (id), 
	CONSTRAINT ck_legal_hold_lifted CHECK ((lifted_by IS NULL) = (lifted_at IS NULL)), 
	CONSTRAINT ck_legal_hold_two_people CHECK (lifted_by IS NULL OR lifted_by <> set_by), 
	CONSTRAINT fk_legal_hold_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_legal_hold_lifted_by FOREIGN KEY(lifted_by) REFERENCES staff (id), 
	CONSTRAINT fk_legal_hold_set_by FOREIGN KEY(set_by) REFERENCES staff (id)
);

CREATE TABLE breach (
	id CHAR(32) NOT NULL, 
	number VARCHAR(20) NOT NULL, 
	title VARCHAR(120) NOT NULL, 
	description VARCHAR NOT NULL, 
	actor VARCHAR(120), 
	known_at DATETIME NOT NULL, 
	since_at DATETIME NOT NULL, 
	until_at DATETIME NOT NULL, 
	people INTEGER, 
	risk VARCHAR(10), 
	risk_reason VARCHAR, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	commission_at DATETIME, 
	commission_reference VARCHAR(60), 
	people_at DATETIME, 
	closed_by CHAR(32), 
	closed_at DATETIME, 
	created_by CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	version INTEGER NOT NULL, 
	CONSTRAINT pk_breach PRIMARY KEY (id), 
	CONSTRAINT ck_breach_risk CHECK (risk IS NULL OR risk IN ('unlikely', 'likely', 'high')), 
	CONSTRAINT ck_breach_decided CHECK ((risk IS NULL) = (risk_reason IS NULL)), 
	CONSTRAINT ck_breach_two_people CHECK (closed_by IS NULL OR closed_by <> decided_by), 
	CONSTRAINT ck_breach_span CHECK (until_at >= since_at), 
	CONSTRAINT fk_breach_closed_by FOREIGN KEY(closed_by) REFERENCES staff (id), 
	CONSTRAINT fk_breach_created_by FOREIGN KEY(created_by) REFERENCES staff (id), 
	CONSTRAINT fk_breach_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id), 
	CONSTRAINT uq_breach_number UNIQUE (number)
);

CREATE TABLE filing (
	id CHAR(32) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	period_ends_on DATE NOT NULL, 
	due_on DATE NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	prepared_by CHAR(32) NOT NULL, 
	prepared_at DATETIME NOT NULL, 
	checked_by CHAR(32), 
	checked_at DATETIME, 
	sent_by CHAR(32), 
	sent_at DATETIME, 
	reference VARCHAR(60), 
	CONSTRAINT pk_filing PRIMARY KEY (id), 
	CONSTRAINT ck_filing_checked CHECK ((state = 'prepared') = (checked_by IS NULL)), 
	CONSTRAINT ck_filing_sent CHECK ((state = 'sent') = (sent_at IS NOT NULL)), 
	CONSTRAINT ck_filing_kind CHECK (kind IN ('brokerage', 'client_account', 'bordereaux', 'data_protection')), 
	CONSTRAINT ck_filing_state CHECK (state IN ('prepared', 'checked', 'sent')), 
	CONSTRAINT ck_filing_two_people CHECK (checked_by <> prepared_by), 
	CONSTRAINT fk_filing_checked_by FOREIGN KEY(checked_by) REFERENCES staff (id), 
	CONSTRAINT fk_filing_prepared_by FOREIGN KEY(prepared_by) REFERENCES staff (id), 
	CONSTRAINT fk_filing_sent_by FOREIGN KEY(sent_by) REFERENCES staff (id), 
	CONSTRAINT uq_filing_kind_period_ends_on UNIQUE (kind, period_ends_on)
);

CREATE TABLE complaint (
	id CHAR(32) NOT NULL, 
	number VARCHAR(20) NOT NULL, 
	category VARCHAR(10) NOT NULL, 
	provider_id CHAR(32), 
	policy_id CHAR(32), 
	customer_id CHAR(32), 
	name VARCHAR NOT NULL, 
	contact VARCHAR(254), 
	text VARCHAR NOT NULL, 
	received_at DATETIME NOT NULL, 
	due_on DATE NOT NULL, 
	outcome VARCHAR, 
	answered_by CHAR(32), 
	answered_at DATETIME, 
	created_by CHAR(32) NOT NULL, 
	CONSTRAINT pk_complaint PRIMARY KEY (id), 
	CONSTRAINT ck_complaint_category CHECK (category IN ('delay', 'amount', 'refusal', 'service', 'privacy', 'other')), 
	CONSTRAINT ck_complaint_answered CHECK ((answered_at IS NULL) = (outcome IS NULL)), 
	CONSTRAINT fk_complaint_answered_by FOREIGN KEY(answered_by) REFERENCES staff (id), 
	CONSTRAINT fk_complaint_created_by FOREIGN KEY(created_by) REFERENCES staff (id), 
	CONSTRAINT fk_complaint_customer_id FOREIGN KEY(customer_id) REFERENCES customer (id), 
	CONSTRAINT fk_complaint_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_complaint_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT uq_complaint_number UNIQUE (number)
);

CREATE TABLE claim_letter_sent (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	claim_id CHAR(32) NOT NULL, 
	way VARCHAR(12) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_letter_sent PRIMARY KEY (code), 
	CONSTRAINT ck_claim_letter_sent_way CHECK (way IN ('E-mail', 'Post', 'By hand', 'Message')), 
	CONSTRAINT fk_claim_letter_sent_claim_id FOREIGN KEY(claim_id) REFERENCES claim (id), 
	CONSTRAINT fk_claim_letter_sent_code FOREIGN KEY(code) REFERENCES uploaded_file (code), 
	CONSTRAINT fk_claim_letter_sent_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_claim_letter_sent_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id)
);

CREATE TABLE credit_note (
	distributor_id CHAR(32) NOT NULL, 
	id CHAR(32) NOT NULL, 
	refund_id CHAR(32) NOT NULL, 
	provider_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	number INTEGER NOT NULL, 
	total_minor BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	made_by VARCHAR(120) NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	first_by CHAR(32), 
	approved_by CHAR(32), 
	paid_by CHAR(32), 
	returned_by CHAR(32), 
	first_at DATETIME, 
	approved_at DATETIME, 
	paid_at DATETIME, 
	payee VARCHAR(200), 
	reference VARCHAR(60), 
	reference_key VARCHAR(60), 
	value_on DATE, 
	returned_on DATE, 
	note VARCHAR, 
	CONSTRAINT pk_credit_note PRIMARY KEY (id), 
	CONSTRAINT ck_credit_note_amount CHECK (total_minor > 0), 
	CONSTRAINT ck_credit_note_two_people CHECK (approved_by <> first_by), 
	CONSTRAINT ck_credit_note_paid_by_another CHECK (paid_by <> approved_by), 
	CONSTRAINT ck_credit_note_approved CHECK (state NOT IN ('Approved', 'Paid', 'Returned') OR (approved_by IS NOT NULL AND approved_at IS NOT NULL)), 
	CONSTRAINT ck_credit_note_paid CHECK (state NOT IN ('Paid', 'Returned') OR (paid_by IS NOT NULL AND payee IS NOT NULL AND reference_key IS NOT NULL AND value_on IS NOT NULL)), 
	CONSTRAINT ck_credit_note_returned CHECK ((state = 'Returned') = (returned_on IS NOT NULL)), 
	CONSTRAINT ck_credit_note_state CHECK (state IN ('Computed', 'Awaits second person', 'Approved', 'Paid', 'Returned', 'Not recorded')), 
	CONSTRAINT fk_credit_note_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_credit_note_refund_id FOREIGN KEY(refund_id) REFERENCES refund (id), 
	CONSTRAINT fk_credit_note_provider_id FOREIGN KEY(provider_id) REFERENCES provider (id), 
	CONSTRAINT fk_credit_note_first_by FOREIGN KEY(first_by) REFERENCES staff (id), 
	CONSTRAINT fk_credit_note_approved_by FOREIGN KEY(approved_by) REFERENCES staff (id), 
	CONSTRAINT fk_credit_note_paid_by FOREIGN KEY(paid_by) REFERENCES staff (id), 
	CONSTRAINT fk_credit_note_returned_by FOREIGN KEY(returned_by) REFERENCES staff (id), 
	CONSTRAINT uq_credit_note_refund_id UNIQUE (refund_id), 
	CONSTRAINT uq_credit_note_provider_id_is_live_number UNIQUE (provider_id, is_live, number), 
	CONSTRAINT uq_credit_note_is_live_reference_key UNIQUE (is_live, reference_key)
);

CREATE TABLE role_grant (
	id CHAR(32) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	roles JSON NOT NULL, 
	proposed_by CHAR(32) NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	CONSTRAINT pk_role_grant PRIMARY KEY (id), 
	CONSTRAINT ck_role_grant_state CHECK (state IN ('open', 'confirmed', 'refused', 'withdrawn')), 
	CONSTRAINT ck_role_grant_decided CHECK ((state = 'open') = (decided_at IS NULL)), 
	CONSTRAINT ck_role_grant_two_people CHECK (state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by), 
	CONSTRAINT ck_role_grant_not_oneself CHECK (state <> 'confirmed' OR decided_by <> staff_id), 
	CONSTRAINT fk_role_grant_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id), 
	CONSTRAINT fk_role_grant_proposed_by FOREIGN KEY(proposed_by) REFERENCES staff (id), 
	CONSTRAINT fk_role_grant_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id)
);

CREATE TABLE submission_owner (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	owner_id CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_submission_owner PRIMARY KEY (policy_id), 
	CONSTRAINT fk_submission_owner_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_submission_owner_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_submission_owner_owner_id FOREIGN KEY(owner_id) REFERENCES staff (id)
);

CREATE TABLE automation (
	name VARCHAR(40) NOT NULL, 
	is_on BOOLEAN NOT NULL, 
	changed_by VARCHAR(120), 
	changed_at DATETIME NOT NULL, 
	day DATE, 
	is_finished BOOLEAN NOT NULL, 
	after_at DATETIME, 
	after_id CHAR(32), 
	done INTEGER NOT NULL, 
	CONSTRAINT pk_automation PRIMARY KEY (name)
);

CREATE TABLE view_watch (
	id CHAR(32) NOT NULL, 
	view_id CHAR(32) NOT NULL, 
	staff_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	every VARCHAR(10), 
	sent_on DATE, 
	figure VARCHAR(10), 
	is_above BOOLEAN NOT NULL, 
	bound BIGINT, 
	is_crossed BOOLEAN NOT NULL, 
	checked_at DATETIME, 
	last_error VARCHAR(200), 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_view_watch PRIMARY KEY (id), 
	CONSTRAINT ck_view_watch_every CHECK (every IN ('day', 'week', 'month')), 
	CONSTRAINT ck_view_watch_figure CHECK (figure IN ('rows', 'sum')), 
	CONSTRAINT ck_view_watch_warning CHECK ((figure IS NULL) = (bound IS NULL)), 
	CONSTRAINT fk_view_watch_view_id FOREIGN KEY(view_id) REFERENCES saved_view (id) ON DELETE CASCADE, 
	CONSTRAINT fk_view_watch_staff_id FOREIGN KEY(staff_id) REFERENCES staff (id), 
	CONSTRAINT uq_view_watch_view_id_staff_id UNIQUE (view_id, staff_id)
);

CREATE TABLE customer_merge (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	merged_id CHAR(32) NOT NULL, 
	kept_id CHAR(32) NOT NULL, 
	merged_by CHAR(32) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_customer_merge PRIMARY KEY (merged_id), 
	CONSTRAINT ck_customer_merge_two_records CHECK (merged_id <> kept_id), 
	CONSTRAINT fk_customer_merge_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_customer_merge_merged_id FOREIGN KEY(merged_id) REFERENCES customer (id), 
	CONSTRAINT fk_customer_merge_kept_id FOREIGN KEY(kept_id) REFERENCES customer (id), 
	CONSTRAINT fk_customer_merge_merged_by FOREIGN KEY(merged_by) REFERENCES staff (id)
);

CREATE TABLE claim_payment_file (
	id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	file_name VARCHAR(200) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	payments INTEGER NOT NULL, 
	amount_minor BIGINT NOT NULL, 
	paid_by CHAR(32) NOT NULL, 
	paid_at DATETIME NOT NULL, 
	CONSTRAINT pk_claim_payment_file PRIMARY KEY (id), 
	CONSTRAINT fk_claim_payment_file_paid_by FOREIGN KEY(paid_by) REFERENCES staff (id), 
	CONSTRAINT uq_claim_payment_file_is_live_sha256 UNIQUE (is_live, sha256)
);

CREATE TABLE commission_share (
	id CHAR(32) NOT NULL, 
	distributor_id CHAR(32) NOT NULL, 
	product_id CHAR(32), 
	effective_at DATETIME NOT NULL, 
	commission_bp INTEGER, 
	proposed_by CHAR(32) NOT NULL, 
	proposed_at DATETIME NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by CHAR(32), 
	decided_at DATETIME, 
	CONSTRAINT pk_commission_share PRIMARY KEY (id), 
	CONSTRAINT ck_commission_share_state CHECK (state IN ('open', 'confirmed', 'refused', 'withdrawn')), 
	CONSTRAINT ck_commission_share_commission CHECK (commission_bp BETWEEN 0 AND 10000), 
	CONSTRAINT ck_commission_share_decided CHECK ((state = 'open') = (decided_at IS NULL)), 
	CONSTRAINT ck_commission_share_two_people CHECK (state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by), 
	CONSTRAINT fk_commission_share_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_commission_share_product_id FOREIGN KEY(product_id) REFERENCES product (id), 
	CONSTRAINT fk_commission_share_proposed_by FOREIGN KEY(proposed_by) REFERENCES staff (id), 
	CONSTRAINT fk_commission_share_decided_by FOREIGN KEY(decided_by) REFERENCES staff (id)
);

CREATE TABLE policy_endorsement (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	id CHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	made_by CHAR(32) NOT NULL, 
	number INTEGER NOT NULL, 
	effective_on DATE NOT NULL, 
	changes JSON NOT NULL, 
	reason VARCHAR(500) NOT NULL, 
	requested_by VARCHAR(200) NOT NULL, 
	premium_minor BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_policy_endorsement PRIMARY KEY (id), 
	CONSTRAINT ck_policy_endorsement_number CHECK (number > 0), 
	CONSTRAINT ck_policy_endorsement_premium CHECK (premium_minor = 0), 
	CONSTRAINT fk_policy_endorsement_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_policy_endorsement_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_policy_endorsement_made_by FOREIGN KEY(made_by) REFERENCES staff (id), 
	CONSTRAINT uq_policy_endorsement_policy_id_number UNIQUE (policy_id, number)
);

CREATE TABLE endorsement_notice (
	distributor_id CHAR(32) NOT NULL, 
	is_live BOOLEAN NOT NULL, 
	endorsement_id CHAR(32) NOT NULL, 
	policy_id CHAR(32) NOT NULL, 
	told_by CHAR(32) NOT NULL, 
	note VARCHAR(200) NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_endorsement_notice PRIMARY KEY (endorsement_id), 
	CONSTRAINT fk_endorsement_notice_distributor_id FOREIGN KEY(distributor_id) REFERENCES distributor (id), 
	CONSTRAINT fk_endorsement_notice_endorsement_id FOREIGN KEY(endorsement_id) REFERENCES policy_endorsement (id), 
	CONSTRAINT fk_endorsement_notice_policy_id FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT fk_endorsement_notice_told_by FOREIGN KEY(told_by) REFERENCES staff (id)
);

CREATE TABLE claim_total (
	is_live BOOLEAN NOT NULL, 
	claim_status VARCHAR(30) NOT NULL, 
	assigned_to CHAR(32) NOT NULL, 
	clock_day DATE NOT NULL, 
	part INTEGER NOT NULL, 
	claims BIGINT NOT NULL, 
	claimed_minor BIGINT NOT NULL, 
	offered_minor BIGINT NOT NULL, 
	paid_minor BIGINT NOT NULL, 
	payments BIGINT NOT NULL, 
	outstanding_minor BIGINT NOT NULL, 
	CONSTRAINT pk_claim_total PRIMARY KEY (is_live, claim_status, assigned_to, clock_day, part)
)
 WITHOUT ROWID

;

CREATE INDEX ix_audit_entry_action_created_at ON audit_entry (action, created_at);

CREATE INDEX ix_audit_entry_actor_created_at ON audit_entry (actor, created_at);

CREATE INDEX ix_audit_entry_created_at_id ON audit_entry (created_at, id);

CREATE INDEX ix_audit_entry_subject_created_at ON audit_entry (subject, created_at);

CREATE INDEX ix_api_key_distributor_id ON api_key (distributor_id);

CREATE INDEX ix_customer_email_key ON customer (email_key);

CREATE INDEX ix_export_receipt_created_at ON export_receipt (created_at);

CREATE INDEX ix_kept_answer_created_at ON kept_answer (created_at);

CREATE INDEX ix_product_product_category_id ON product (product_category_id);

CREATE INDEX ix_product_provider_id ON product (provider_id);

CREATE INDEX ix_staff_session_staff_id_created_at ON staff_session (staff_id, created_at);

CREATE INDEX ix_daybook_line_of_distributor ON daybook_line (distributor_id, is_live, grain, day, sold);

CREATE INDEX ix_purchase_customer_id_created_at ON purchase (customer_id, created_at);

CREATE INDEX ix_purchase_distributor_id_is_live_created_at_id_deleted_at ON purchase (distributor_id, is_live, created_at, id, deleted_at);

CREATE INDEX ix_purchase_is_live_created_at_id_deleted_at_total_minor ON purchase (is_live, created_at, id, deleted_at, total_minor);

CREATE INDEX ix_policy_email ON policy (email);

CREATE INDEX ix_policy_in_force ON policy (is_live, expiration_at, created_at, activated, cancelled_at, declined_at, deleted_at, product_id, distributor_id, genius_price_minor, id);

CREATE INDEX ix_policy_of_customer ON policy (customer_id, created_at, is_live, expiration_at, activated, cancelled_at, declined_at, deleted_at);

CREATE INDEX ix_policy_is_live_created_at_id ON policy (is_live, created_at, id);

CREATE INDEX ix_policy_number_key ON policy (number_key);

CREATE INDEX ix_policy_phone ON policy (phone);

CREATE INDEX ix_policy_plate_key ON policy (plate_key);

CREATE INDEX ix_policy_product_id_risk_hash ON policy (product_id, risk_hash);

CREATE INDEX ix_policy_unusual ON policy (is_live, created_at) WHERE (NOT activated OR cancelled_at IS NOT NULL OR declined_at IS NOT NULL);

CREATE INDEX ix_certificate_policy_id ON certificate (policy_id);

CREATE INDEX ix_claim_account_key ON claim (account_key);

CREATE INDEX ix_claim_customer_id_created_at ON claim (customer_id, created_at);

CREATE INDEX ix_claim_distributor_id_is_live_created_at_id ON claim (distributor_id, is_live, created_at, id);

CREATE INDEX ix_claim_is_live_claim_status_created_at ON claim (is_live, claim_status, created_at);

CREATE INDEX ix_claim_policy_id ON claim (policy_id);

CREATE INDEX ix_claim_queue ON claim (is_live, clock_stopped_at, clock_from, id, claim_status, assigned_to, deleted_at, updated_at, created_at, claim_amount_minor, offer_amount_minor);

CREATE INDEX ix_renewal_customer_id_created_at ON renewal (customer_id, created_at);

CREATE INDEX ix_renewal_is_live_created_at_id ON renewal (is_live, created_at, id);

CREATE INDEX ix_renewal_failed ON renewal (is_live, created_at) WHERE status IS 0;

CREATE INDEX ix_renewal_terms ON renewal (is_live, previous_expiration_at, start_at, status, deleted_at, product_id, distributor_id);

CREATE INDEX ix_submission_due ON submission (state, provider_id, next_try_at, leased_until);

CREATE INDEX ix_submission_waiting ON submission (is_live, state, provider_id, created_at);

CREATE INDEX ix_claim_comment_claim_id ON claim_comment (claim_id);

CREATE INDEX ix_claim_event_claim_id ON claim_event (claim_id);

CREATE INDEX ix_claim_event_is_live_status_created_at_claim_id ON claim_event (is_live, status, created_at, claim_id);

CREATE INDEX ix_claim_question_claim_id ON claim_question (claim_id);

CREATE INDEX ix_uploaded_file_claim_id ON uploaded_file (claim_id);

CREATE INDEX ix_uploaded_file_sent_sha256 ON uploaded_file (sent_sha256);

CREATE INDEX ix_policy_of_distributor ON policy (distributor_id, is_live, created_at, id, activated, cancelled_at, declined_at, deleted_at, expiration_at);

CREATE INDEX ix_renewal_of_distributor ON renewal (distributor_id, is_live, created_at, id, deleted_at, status);

CREATE INDEX ix_customer_search ON customer (is_live, created_at, id, deleted_at, name_key, email_key, phone_number, distributor_id);

CREATE INDEX ix_customer_of_distributor ON customer (distributor_id, is_live, created_at, id, deleted_at, active, name_key, email_key, phone_number);

CREATE INDEX ix_refund_policy_id ON refund (policy_id);

CREATE UNIQUE INDEX ix_refund_of_purchase ON refund (purchase_id) WHERE renewal_id IS NULL;

CREATE UNIQUE INDEX ix_refund_of_renewal ON refund (renewal_id) WHERE renewal_id IS NOT NULL;

CREATE UNIQUE INDEX ix_rate_proposal_open ON rate_proposal (product_id) WHERE state = 'open';

CREATE INDEX ix_mail_created_at ON mail (created_at);

CREATE INDEX ix_mail_due ON mail (state, next_try_at, leased_until);

CREATE INDEX ix_event_created_at ON event (created_at);

CREATE INDEX ix_event_feed ON event (distributor_id, is_live, position);

CREATE INDEX ix_webhook_endpoint_distributor_id_is_live ON webhook_endpoint (distributor_id, is_live);

CREATE INDEX ix_webhook_delivery_due ON webhook_delivery (state, endpoint_id, next_try_at, leased_until);

CREATE INDEX ix_webhook_delivery_event_id ON webhook_delivery (event_id);

CREATE INDEX ix_webhook_delivery_log ON webhook_delivery (endpoint_id, created_at, id);

CREATE INDEX ix_webhook_try_delivery_id_started_at ON webhook_try (delivery_id, started_at);

CREATE INDEX ix_webhook_try_started_at ON webhook_try (started_at);

CREATE INDEX ix_refund_is_live_created_at_id ON refund (is_live, created_at, id);

CREATE INDEX ix_adjustment_proposal_open ON adjustment_proposal (is_live, state, proposed_at);

CREATE INDEX ix_adjustment_is_live_created_at_id ON adjustment (is_live, created_at, id);

CREATE INDEX ix_adjustment_corrects_id ON adjustment (corrects_id);

CREATE INDEX ix_agreement_of_distributor ON agreement (distributor_id, starts_on);

CREATE INDEX ix_agreement_of_provider ON agreement (provider_id, starts_on);

CREATE INDEX ix_bank_account_of_distributor ON bank_account (distributor_id, state);

CREATE INDEX ix_bank_account_of_provider ON bank_account (provider_id, state);

CREATE UNIQUE INDEX ix_statement_number_of_distributor ON statement (distributor_id, number) WHERE distributor_id IS NOT NULL AND number > 0;

CREATE UNIQUE INDEX ix_statement_month_of_distributor ON statement (distributor_id, month) WHERE distributor_id IS NOT NULL AND state <> 'Void' AND reverses_id IS NULL;

CREATE UNIQUE INDEX ix_statement_number_of_provider ON statement (provider_id, number) WHERE provider_id IS NOT NULL AND number > 0;

CREATE UNIQUE INDEX ix_statement_month_of_provider ON statement (provider_id, month) WHERE provider_id IS NOT NULL AND state <> 'Void' AND reverses_id IS NULL;

CREATE UNIQUE INDEX ix_statement_reversal ON statement (reverses_id) WHERE reverses_id IS NOT NULL AND state <> 'Void';

CREATE INDEX ix_statement_month_account ON statement (month, account);

CREATE UNIQUE INDEX ix_statement_line_of_movement ON statement_line (movement_id, account) WHERE released_by IS NULL;

CREATE INDEX ix_claim_override_claim_id ON claim_override (claim_id);

CREATE INDEX ix_claim_override_is_live_created_at_claim_id ON claim_override (is_live, created_at, claim_id);

CREATE INDEX ix_claim_claim_owner_phone_number ON claim (claim_owner_phone_number);

CREATE INDEX ix_claim_claim_owner_email ON claim (claim_owner_email);

CREATE INDEX ix_claim_reserve_claim_id ON claim_reserve (claim_id);

CREATE INDEX ix_claim_reserve_is_live_created_at_claim_id ON claim_reserve (is_live, created_at, claim_id);

CREATE INDEX ix_claim_referral_claim_id ON claim_referral (claim_id);

CREATE INDEX ix_claim_referral_closed_at_claim_id ON claim_referral (closed_at, claim_id);

CREATE INDEX ix_claim_payment_is_live_created_at_claim_id ON claim_payment (is_live, created_at, claim_id);

CREATE INDEX ix_claim_payment_claim_id ON claim_payment (claim_id);

CREATE INDEX ix_claim_payment_reference_key ON claim_payment (reference_key);

CREATE INDEX ix_renewal_call_policy_id_expiration_at_created_at ON renewal_call (policy_id, expiration_at, created_at);

CREATE INDEX ix_renewal_call_is_live_created_at ON renewal_call (is_live, created_at);

CREATE INDEX ix_claim_payee_claim_id ON claim_payee (claim_id);

CREATE INDEX ix_claim_task_claim_id ON claim_task (claim_id);

CREATE INDEX ix_claim_task_assigned_to_done_at ON claim_task (assigned_to, done_at);

CREATE UNIQUE INDEX ix_payment_open_of_distributor ON payment (distributor_id) WHERE distributor_id IS NOT NULL AND state IN ('Prepared', 'Approved');

CREATE UNIQUE INDEX ix_payment_reference_of_distributor ON payment (distributor_id, direction, reference_key) WHERE distributor_id IS NOT NULL AND reference_key IS NOT NULL AND state <> 'Withdrawn';

CREATE UNIQUE INDEX ix_payment_open_of_provider ON payment (provider_id) WHERE provider_id IS NOT NULL AND state IN ('Prepared', 'Approved');

CREATE UNIQUE INDEX ix_payment_reference_of_provider ON payment (provider_id, direction, reference_key) WHERE provider_id IS NOT NULL AND reference_key IS NOT NULL AND state <> 'Withdrawn';

CREATE INDEX ix_payment_batch_id ON payment (batch_id);

CREATE INDEX ix_payment_prepared_at ON payment (prepared_at);

CREATE INDEX ix_payment_settlement_statement_id ON payment_settlement (statement_id);

CREATE UNIQUE INDEX ix_statement_payment_of_payment ON statement_payment (payment_id, entry) WHERE released_by IS NULL;

CREATE INDEX ix_bordereau_month ON bordereau (month);

CREATE UNIQUE INDEX ix_bordereau_line_of_movement ON bordereau_line (subject_id) WHERE kind = 'premium';

CREATE INDEX ix_bordereau_line_subject_id_kind ON bordereau_line (subject_id, kind);

CREATE INDEX ix_reconciliation_month ON reconciliation (month);

CREATE INDEX ix_difference_reconciliation_id_state ON difference (reconciliation_id, state);

CREATE INDEX ix_saved_view_screen_shared_role ON saved_view (screen, shared_role);

CREATE INDEX ix_start_view_view_id ON start_view (view_id);

CREATE INDEX ix_mail_about_created_at ON mail (about, created_at);

CREATE INDEX ix_customer_note_customer_id_created_at ON customer_note (customer_id, created_at);

CREATE INDEX ix_data_request_state_due_on ON data_request (state, due_on);

CREATE INDEX ix_data_request_subject_key ON data_request (subject_key);

CREATE INDEX ix_erasure_state_prepared_at ON erasure (state, prepared_at);

CREATE INDEX ix_legal_hold_customer_id_lifted_at ON legal_hold (customer_id, lifted_at);

CREATE INDEX ix_breach_known_at ON breach (known_at);

CREATE INDEX ix_complaint_answered_at_due_on ON complaint (answered_at, due_on);

CREATE INDEX ix_complaint_customer_id ON complaint (customer_id);

CREATE INDEX ix_complaint_provider_id_received_at ON complaint (provider_id, received_at);

CREATE INDEX ix_claim_letter_sent_claim_id ON claim_letter_sent (claim_id);

CREATE INDEX ix_credit_note_is_live_created_at_id ON credit_note (is_live, created_at, id);

CREATE INDEX ix_credit_note_is_live_state_created_at ON credit_note (is_live, state, created_at);

CREATE INDEX ix_role_grant_staff_id ON role_grant (staff_id);

CREATE UNIQUE INDEX ix_role_grant_open ON role_grant (staff_id) WHERE state = 'open';

CREATE INDEX ix_submission_owner_owner_id ON submission_owner (owner_id);

CREATE INDEX ix_view_watch_staff_id ON view_watch (staff_id);

CREATE INDEX ix_customer_merge_kept_id ON customer_merge (kept_id);

CREATE INDEX ix_claim_payment_file_is_live_paid_at ON claim_payment_file (is_live, paid_at);

CREATE UNIQUE INDEX ix_commission_share_open ON commission_share (distributor_id) WHERE state = 'open';

CREATE INDEX ix_commission_share_in_force ON commission_share (distributor_id, product_id, effective_at);

CREATE UNIQUE INDEX ix_product_version_of_share ON product_version (base_id, share_id);

CREATE UNIQUE INDEX ix_product_version_in_force ON product_version (product_id, effective_at) WHERE withdrawn_at IS NULL AND share_id IS NULL;

CREATE INDEX ix_policy_endorsement_is_live_created_at ON policy_endorsement (is_live, created_at);

CREATE INDEX ix_endorsement_notice_policy_id ON endorsement_notice (policy_id);

CREATE INDEX ix_claim_is_live_created_at_id ON claim (is_live, created_at, id);

CREATE INDEX ix_claim_is_live_claim_amount_minor_id ON claim (is_live, claim_amount_minor, id);

CREATE INDEX ix_claim_is_live_offer_amount_minor_id ON claim (is_live, offer_amount_minor, id);

CREATE INDEX ix_claim_is_live_updated_at ON claim (is_live, updated_at);

CREATE INDEX ix_claim_unsettled ON claim (is_live, clock_stopped_at, clock_from, id, claim_status, assigned_to, deleted_at, claim_amount_minor, offer_amount_minor) WHERE claim_status NOT IN ('Declined', 'Settled');

CREATE INDEX ix_claim_reference ON claim (is_live, substr(id, -8));

CREATE INDEX ix_claim_of_claimant ON claim (is_live, claim_owner_name_key, claim_owner_email, id, deleted_at);

CREATE VIEW movement AS SELECT 'purchase' AS kind, id, created_at, is_live, distributor_id, customer_id, product_id, product_version_id, product_category_id, provider_id, (SELECT policy.id FROM policy WHERE policy.purchase_id = purchase.id) AS policy_id, id AS purchase_id, NULL AS renewal_id, request_source AS request_source, total_minor AS total_minor, mca_profit_minor AS mca_profit_minor, distributor_profit_minor AS distributor_profit_minor, (total_minor - mca_profit_minor - distributor_profit_minor) AS provider_share_minor FROM purchase WHERE deleted_at IS NULL UNION ALL SELECT 'renewal' AS kind, id, created_at, is_live, distributor_id, customer_id, product_id, product_version_id, product_category_id, provider_id, policy_id AS policy_id, purchase_id AS purchase_id, id AS renewal_id, (SELECT sale.request_source FROM purchase AS sale WHERE sale.id = renewal.purchase_id) AS request_source, total_minor AS total_minor, mca_profit_minor AS mca_profit_minor, distributor_profit_minor AS distributor_profit_minor, (total_minor - mca_profit_minor - distributor_profit_minor) AS provider_share_minor FROM renewal WHERE deleted_at IS NULL AND status UNION ALL SELECT 'refund' AS kind, id, created_at, is_live, distributor_id, customer_id, product_id, product_version_id, product_category_id, provider_id, policy_id AS policy_id, purchase_id AS purchase_id, renewal_id AS renewal_id, (SELECT sale.request_source FROM purchase AS sale WHERE sale.id = refund.purchase_id) AS request_source, -total_minor AS total_minor, -mca_profit_minor AS mca_profit_minor, -distributor_profit_minor AS distributor_profit_minor, -(total_minor - mca_profit_minor - distributor_profit_minor) AS provider_share_minor FROM refund UNION ALL SELECT 'adjustment' AS kind, id, created_at, is_live, distributor_id, customer_id, product_id, product_version_id, product_category_id, provider_id, policy_id AS policy_id, purchase_id AS purchase_id, renewal_id AS renewal_id, (SELECT sale.request_source FROM purchase AS sale WHERE sale.id = adjustment.purchase_id) AS request_source, total_minor AS total_minor, mca_profit_minor AS mca_profit_minor, distributor_profit_minor AS distributor_profit_minor, (total_minor - mca_profit_minor - distributor_profit_minor) AS provider_share_minor FROM adjustment;

CREATE TRIGGER audit_entry_delete BEFORE DELETE ON audit_entry BEGIN SELECT RAISE(ABORT, 'audit_entry keeps what it holds'); END;

CREATE TRIGGER claim_event_delete BEFORE DELETE ON claim_event BEGIN SELECT RAISE(ABORT, 'claim_event keeps what it holds'); END;

CREATE TRIGGER export_receipt_delete BEFORE DELETE ON export_receipt BEGIN SELECT RAISE(ABORT, 'export_receipt keeps what it holds'); END;

CREATE TRIGGER purchase_amounts BEFORE UPDATE OF total_minor, mca_profit_minor, distributor_profit_minor, distributor_id, is_live, created_at ON purchase BEGIN SELECT RAISE(ABORT, 'purchase keeps what it holds'); END;

CREATE TRIGGER renewal_amounts BEFORE UPDATE OF total_minor, mca_profit_minor, distributor_profit_minor, distributor_id, is_live, created_at ON renewal BEGIN SELECT RAISE(ABORT, 'renewal keeps what it holds'); END;

CREATE TRIGGER product_version_delete BEFORE DELETE ON product_version BEGIN SELECT RAISE(ABORT, 'product_version keeps what it holds'); END;

CREATE TRIGGER purchase_delete BEFORE DELETE ON purchase BEGIN SELECT RAISE(ABORT, 'purchase keeps what it holds'); END;

CREATE TRIGGER renewal_delete BEFORE DELETE ON renewal BEGIN SELECT RAISE(ABORT, 'renewal keeps what it holds'); END;

CREATE TRIGGER product_version_withdrawal BEFORE UPDATE OF withdrawn_at ON product_version FOR EACH ROW WHEN (OLD.withdrawn_at IS NOT NULL OR NEW.withdrawn_at IS NULL OR NEW.withdrawn_at >= OLD.effective_at) BEGIN SELECT RAISE(ABORT, 'product_version keeps what it holds'); END;

CREATE TRIGGER refund_delete BEFORE DELETE ON refund BEGIN SELECT RAISE(ABORT, 'refund keeps what it holds'); END;

CREATE TRIGGER refund_within_its_term BEFORE INSERT ON refund WHEN NOT (EXISTS (SELECT 1 FROM purchase WHERE id = NEW.purchase_id AND (NEW.renewal_id IS NOT NULL OR (NEW.total_minor <= total_minor AND NEW.mca_profit_minor <= mca_profit_minor AND NEW.distributor_profit_minor <= distributor_profit_minor))) AND (NEW.renewal_id IS NULL OR EXISTS (SELECT 1 FROM renewal WHERE id = NEW.renewal_id AND purchase_id = NEW.purchase_id AND NEW.total_minor <= total_minor AND NEW.mca_profit_minor <= mca_profit_minor AND NEW.distributor_profit_minor <= distributor_profit_minor))) BEGIN SELECT RAISE(ABORT, 'refund is above what was paid for its term'); END;

CREATE TRIGGER rate_proposal_figures BEFORE UPDATE OF id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp, cover_months, meta, proposed_by, proposed_at ON rate_proposal FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'rate_proposal keeps what it holds'); END;

CREATE TRIGGER rate_proposal_decision BEFORE UPDATE ON rate_proposal FOR EACH ROW WHEN (OLD.state <> 'open') BEGIN SELECT RAISE(ABORT, 'rate_proposal keeps what it holds'); END;

CREATE TRIGGER rate_proposal_delete BEFORE DELETE ON rate_proposal FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'rate_proposal keeps what it holds'); END;

CREATE TRIGGER adjustment_proposal_delete BEFORE DELETE ON adjustment_proposal FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'adjustment_proposal keeps what it holds'); END;

CREATE TRIGGER adjustment_delete BEFORE DELETE ON adjustment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'adjustment keeps what it holds'); END;

CREATE TRIGGER agreement_update BEFORE UPDATE ON agreement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'agreement keeps what it holds'); END;

CREATE TRIGGER agreement_delete BEFORE DELETE ON agreement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'agreement keeps what it holds'); END;

CREATE TRIGGER bank_account_figures BEFORE UPDATE OF id, account, distributor_id, provider_id, bank_name, account_name, hint, proposed_by, proposed_at ON bank_account FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'bank_account keeps what it holds'); END;

CREATE TRIGGER bank_account_decision BEFORE UPDATE OF state, decided_by, decided_at, usable_from ON bank_account FOR EACH ROW WHEN (OLD.state <> 'open') BEGIN SELECT RAISE(ABORT, 'bank_account keeps what it holds'); END;

CREATE TRIGGER bank_account_delete BEFORE DELETE ON bank_account FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'bank_account keeps what it holds'); END;

CREATE TRIGGER tax_rate_update BEFORE UPDATE ON tax_rate FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'tax_rate keeps what it holds'); END;

CREATE TRIGGER tax_rate_delete BEFORE DELETE ON tax_rate FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'tax_rate keeps what it holds'); END;

CREATE TRIGGER statement_figures BEFORE UPDATE OF id, account, distributor_id, provider_id, number, month, opening_minor, premium_minor, earned_minor, clawback_minor, adjusted_minor, vat_minor, withheld_minor, paid_minor, closing_minor, lines, sha256, facts, reverses_id, prepared_by, prepared_at ON statement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'statement keeps what it holds'); END;

CREATE TRIGGER statement_delete BEFORE DELETE ON statement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'statement keeps what it holds'); END;

CREATE TRIGGER statement_line_released BEFORE UPDATE OF released_by ON statement_line FOR EACH ROW WHEN (OLD.released_by IS NOT NULL) BEGIN SELECT RAISE(ABORT, 'statement_line keeps what it holds'); END;

CREATE TRIGGER statement_line_delete BEFORE DELETE ON statement_line FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'statement_line keeps what it holds'); END;

CREATE TRIGGER claim_override_delete BEFORE DELETE ON claim_override BEGIN SELECT RAISE(ABORT, 'claim_override keeps what it holds'); END;

CREATE TRIGGER claim_reserve_delete BEFORE DELETE ON claim_reserve BEGIN SELECT RAISE(ABORT, 'claim_reserve keeps what it holds'); END;

CREATE TRIGGER claim_payment_delete BEFORE DELETE ON claim_payment BEGIN SELECT RAISE(ABORT, 'claim_payment keeps what it holds'); END;

CREATE TRIGGER payment_figures BEFORE UPDATE OF id, account, distributor_id, provider_id, direction, statement_id, batch_id, bank_account_id, gross_minor, vat_minor, withheld_minor, net_minor, prepared_by, prepared_at ON payment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'payment keeps what it holds'); END;

CREATE TRIGGER payment_ended BEFORE UPDATE OF state ON payment FOR EACH ROW WHEN (OLD.state IN ('Returned', 'Withdrawn')) BEGIN SELECT RAISE(ABORT, 'payment keeps what it holds'); END;

CREATE TRIGGER payment_delete BEFORE DELETE ON payment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'payment keeps what it holds'); END;

CREATE TRIGGER payout_batch_figures BEFORE UPDATE OF id, number, payments, net_minor, prepared_by, prepared_at ON payout_batch FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'payout_batch keeps what it holds'); END;

CREATE TRIGGER payout_batch_decided BEFORE UPDATE ON payout_batch FOR EACH ROW WHEN (OLD.state <> 'Prepared') BEGIN SELECT RAISE(ABORT, 'payout_batch keeps what it holds'); END;

CREATE TRIGGER payout_batch_delete BEFORE DELETE ON payout_batch FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'payout_batch keeps what it holds'); END;

CREATE TRIGGER payment_settlement_update BEFORE UPDATE ON payment_settlement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'payment_settlement keeps what it holds'); END;

CREATE TRIGGER payment_settlement_delete BEFORE DELETE ON payment_settlement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'payment_settlement keeps what it holds'); END;

CREATE TRIGGER statement_payment_printed BEFORE UPDATE OF statement_id, position, payment_id, entry, amount_minor, value_on, reference ON statement_payment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'statement_payment keeps what it holds'); END;

CREATE TRIGGER statement_payment_released BEFORE UPDATE OF released_by ON statement_payment FOR EACH ROW WHEN (OLD.released_by IS NOT NULL) BEGIN SELECT RAISE(ABORT, 'statement_payment keeps what it holds'); END;

CREATE TRIGGER statement_payment_delete BEFORE DELETE ON statement_payment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'statement_payment keeps what it holds'); END;

CREATE TRIGGER bordereau_figures BEFORE UPDATE OF id, provider_id, kind, number, month, rows, totals, sha256, facts, issued_by, issued_at ON bordereau FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'bordereau keeps what it holds'); END;

CREATE TRIGGER bordereau_delete BEFORE DELETE ON bordereau FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'bordereau keeps what it holds'); END;

CREATE TRIGGER bordereau_line_delete BEFORE DELETE ON bordereau_line FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'bordereau_line keeps what it holds'); END;

CREATE TRIGGER reconciliation_update BEFORE UPDATE ON reconciliation FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'reconciliation keeps what it holds'); END;

CREATE TRIGGER reconciliation_delete BEFORE DELETE ON reconciliation FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'reconciliation keeps what it holds'); END;

CREATE TRIGGER difference_figures BEFORE UPDATE OF id, reconciliation_id, result, policy_number, kind, ours_minor, theirs_minor, difference_minor, detail, rows, subjects ON difference FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'difference keeps what it holds'); END;

CREATE TRIGGER difference_ended BEFORE UPDATE OF state ON difference FOR EACH ROW WHEN (OLD.state IN ('Adjusted', 'Written off')) BEGIN SELECT RAISE(ABORT, 'difference keeps what it holds'); END;

CREATE TRIGGER difference_delete BEFORE DELETE ON difference FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'difference keeps what it holds'); END;

CREATE TRIGGER month_step_update BEFORE UPDATE ON month_step FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'month_step keeps what it holds'); END;

CREATE TRIGGER month_step_delete BEFORE DELETE ON month_step FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'month_step keeps what it holds'); END;

CREATE TRIGGER audit_entry_texts BEFORE UPDATE OF "before", "after" ON audit_entry FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'audit_entry keeps what it holds'); END;

CREATE TRIGGER claim_event_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, status, staff_id, created_at ON claim_event FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'claim_event keeps what it holds'); END;

CREATE TRIGGER claim_event_texts BEFORE UPDATE OF "note" ON claim_event FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'claim_event keeps what it holds'); END;

CREATE TRIGGER claim_override_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, event_id, check_key, is_failed, duplicates, staff_id, created_at ON claim_override FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'claim_override keeps what it holds'); END;

CREATE TRIGGER claim_override_texts BEFORE UPDATE OF "detail", "reason" ON claim_override FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'claim_override keeps what it holds'); END;

CREATE TRIGGER claim_payment_texts BEFORE UPDATE OF "reference", "reference_key" ON claim_payment FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'claim_payment keeps what it holds'); END;

CREATE TRIGGER claim_reserve_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, change_minor, staff_id, created_at ON claim_reserve FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'claim_reserve keeps what it holds'); END;

CREATE TRIGGER claim_reserve_texts BEFORE UPDATE OF "reason" ON claim_reserve FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'claim_reserve keeps what it holds'); END;

CREATE TRIGGER refund_update BEFORE UPDATE OF id, is_live, distributor_id, policy_id, purchase_id, renewal_id, customer_id, product_id, product_version_id, product_category_id, provider_id, total_minor, mca_profit_minor, distributor_profit_minor, method, explained, created_at ON refund FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'refund keeps what it holds'); END;

CREATE TRIGGER refund_texts BEFORE UPDATE OF "reason" ON refund FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'refund keeps what it holds'); END;

CREATE TRIGGER adjustment_update BEFORE UPDATE OF id, distributor_id, is_live, total_minor, mca_profit_minor, distributor_profit_minor, corrects_kind, corrects_id, proposed_by, proposal_id, policy_id, purchase_id, customer_id, product_id, product_version_id, product_category_id, provider_id, approved_by, renewal_id, created_at ON adjustment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'adjustment keeps what it holds'); END;

CREATE TRIGGER adjustment_texts BEFORE UPDATE OF "reason" ON adjustment FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'adjustment keeps what it holds'); END;

CREATE TRIGGER export_receipt_update BEFORE UPDATE OF id, staff_id, kind, format, is_live, rows, sum_minor, sha256, content_sha256, again_of, created_at ON export_receipt FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'export_receipt keeps what it holds'); END;

CREATE TRIGGER export_receipt_texts BEFORE UPDATE OF "filters" ON export_receipt FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'export_receipt keeps what it holds'); END;

CREATE TRIGGER bordereau_line_update BEFORE UPDATE OF bordereau_id, position, kind, subject_id, amount_minor ON bordereau_line FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'bordereau_line keeps what it holds'); END;

CREATE TRIGGER bordereau_line_texts BEFORE UPDATE OF "cells" ON bordereau_line FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'bordereau_line keeps what it holds'); END;

CREATE TRIGGER adjustment_proposal_figures BEFORE UPDATE OF id, distributor_id, is_live, total_minor, mca_profit_minor, distributor_profit_minor, corrects_kind, corrects_id, proposed_by, proposed_at ON adjustment_proposal FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'adjustment_proposal keeps what it holds'); END;

CREATE TRIGGER adjustment_proposal_decision BEFORE UPDATE OF state, decided_by, decided_at ON adjustment_proposal FOR EACH ROW WHEN (OLD.state <> 'open') BEGIN SELECT RAISE(ABORT, 'adjustment_proposal keeps what it holds'); END;

CREATE TRIGGER adjustment_proposal_texts BEFORE UPDATE OF "reason" ON adjustment_proposal FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'adjustment_proposal keeps what it holds'); END;

CREATE TRIGGER adjustment_proposal_refusal BEFORE UPDATE OF "refusal" ON adjustment_proposal FOR EACH ROW WHEN (OLD.state <> 'open' AND NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'adjustment_proposal keeps what it holds'); END;

CREATE TRIGGER statement_line_printed BEFORE UPDATE OF statement_id, position, account, movement_id, product_id, other_id, kind, occurred_at, policy_number, effective_at, expires_at, premium_minor, commission_minor, vat_minor, withheld_minor, net_minor, rate_bp ON statement_line FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'statement_line keeps what it holds'); END;

CREATE TRIGGER statement_line_texts BEFORE UPDATE OF "customer" ON statement_line FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'statement_line keeps what it holds'); END;

CREATE TRIGGER erasure_figures BEFORE UPDATE OF id, number, record_class, request_id, customers, before_at, reason, is_early, is_restored, prepared_by, prepared_at ON erasure FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'erasure keeps what it holds'); END;

CREATE TRIGGER erasure_decision BEFORE UPDATE OF state, decided_by, decided_at, refusal, outcome, sha256 ON erasure FOR EACH ROW WHEN (OLD.state <> 'open') BEGIN SELECT RAISE(ABORT, 'erasure keeps what it holds'); END;

CREATE TRIGGER compliance_figure_update BEFORE UPDATE ON compliance_figure FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'compliance_figure keeps what it holds'); END;

CREATE TRIGGER erasure_delete BEFORE DELETE ON erasure FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'erasure keeps what it holds'); END;

CREATE TRIGGER compliance_figure_delete BEFORE DELETE ON compliance_figure FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'compliance_figure keeps what it holds'); END;

CREATE TRIGGER redaction_delete BEFORE DELETE ON redaction FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'redaction keeps what it holds'); END;

CREATE TRIGGER legal_hold_delete BEFORE DELETE ON legal_hold FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'legal_hold keeps what it holds'); END;

CREATE TRIGGER credit_note_decision BEFORE UPDATE OF first_by, approved_by, approved_at ON credit_note FOR EACH ROW WHEN (OLD.approved_by IS NOT NULL OR (OLD.first_by IS NOT NULL AND NEW.first_by <> OLD.first_by)) BEGIN SELECT RAISE(ABORT, 'credit_note keeps what it holds'); END;

CREATE TRIGGER credit_note_figures BEFORE UPDATE OF id, refund_id, provider_id, distributor_id, is_live, number, total_minor, created_at, made_by ON credit_note FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'credit_note keeps what it holds'); END;

CREATE TRIGGER credit_note_delete BEFORE DELETE ON credit_note FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'credit_note keeps what it holds'); END;

CREATE TRIGGER role_grant_figures BEFORE UPDATE OF id, staff_id, roles, proposed_by, proposed_at ON role_grant FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'role_grant keeps what it holds'); END;

CREATE TRIGGER role_grant_decision BEFORE UPDATE OF state, decided_by, decided_at ON role_grant FOR EACH ROW WHEN (OLD.state <> 'open') BEGIN SELECT RAISE(ABORT, 'role_grant keeps what it holds'); END;

CREATE TRIGGER role_grant_delete BEFORE DELETE ON role_grant FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'role_grant keeps what it holds'); END;

CREATE TRIGGER audit_entry_update BEFORE UPDATE OF id, chain, position, actor, action, subject, created_at, hash, trace_id ON audit_entry FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'audit_entry keeps what it holds'); END;

CREATE TRIGGER claim_payment_file_update BEFORE UPDATE ON claim_payment_file FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'claim_payment_file keeps what it holds'); END;

CREATE TRIGGER claim_payment_file_delete BEFORE DELETE ON claim_payment_file FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'claim_payment_file keeps what it holds'); END;

CREATE TRIGGER claim_payment_update BEFORE UPDATE OF distributor_id, is_live, id, claim_id, provider_id, amount_minor, paid_by, created_at, reverses, payee_id, method, value_on, file_id ON claim_payment FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'claim_payment keeps what it holds'); END;

CREATE TRIGGER commission_share_figures BEFORE UPDATE OF id, distributor_id, product_id, effective_at, commission_bp, proposed_by, proposed_at ON commission_share FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'commission_share keeps what it holds'); END;

CREATE TRIGGER commission_share_decision BEFORE UPDATE ON commission_share FOR EACH ROW WHEN (OLD.state <> 'open') BEGIN SELECT RAISE(ABORT, 'commission_share keeps what it holds'); END;

CREATE TRIGGER commission_share_delete BEFORE DELETE ON commission_share FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'commission_share keeps what it holds'); END;

CREATE TRIGGER product_version_amounts BEFORE UPDATE OF id, product_id, effective_at, price_minor, mca_commission_bp, distributor_commission_bp, cover_months, meta, created_at, base_id, share_id ON product_version FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'product_version keeps what it holds'); END;

CREATE TRIGGER policy_endorsement_update BEFORE UPDATE OF distributor_id, is_live, id, policy_id, made_by, number, effective_on, premium_minor, created_at ON policy_endorsement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'policy_endorsement keeps what it holds'); END;

CREATE TRIGGER policy_endorsement_delete BEFORE DELETE ON policy_endorsement FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'policy_endorsement keeps what it holds'); END;

CREATE TRIGGER policy_endorsement_texts BEFORE UPDATE OF changes, reason, requested_by ON policy_endorsement FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'policy_endorsement keeps what it holds'); END;

CREATE TRIGGER endorsement_notice_update BEFORE UPDATE OF distributor_id, is_live, endorsement_id, policy_id, told_by, created_at ON endorsement_notice FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'endorsement_notice keeps what it holds'); END;

CREATE TRIGGER endorsement_notice_delete BEFORE DELETE ON endorsement_notice FOR EACH ROW BEGIN SELECT RAISE(ABORT, 'endorsement_notice keeps what it holds'); END;

CREATE TRIGGER endorsement_notice_texts BEFORE UPDATE OF note ON endorsement_notice FOR EACH ROW WHEN (NOT EXISTS (SELECT 1 FROM erasure_window)) BEGIN SELECT RAISE(ABORT, 'endorsement_notice keeps what it holds'); END;

INSERT INTO audit_head (chain, position, hash) VALUES
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

INSERT INTO event_cursor (chain, position) VALUES
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

INSERT INTO event_feed (id, position, swept_at) VALUES
(1, 0, NULL);

INSERT INTO tax_rate (id, kind, effective_on, resident_bp, non_resident_bp, without_tin_factor, small_limit_minor, source) VALUES
('019000000000700080000000000f0001', 'vat', '2020-02-01', 750, 750, 1, NULL, 'Finance Act 2019, section 34: 7.5 %'),
('019000000000700080000000000f0002', 'withholding', '2025-01-01', 500, 1000, 2, 200000000, 'Deduction of Tax at Source (Withholding) Regulations 2024: commission 5 %, non-residents 10 %, doubled without a tax number, a small company free up to 2,000,000 naira a month');

INSERT INTO compliance_figure (id, name, effective_on, amount, source, set_by, created_at) VALUES
('01900000000070008000000000000f00', 'acknowledge_working_days', '2023-06-12', 2, 'House rule', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f01', 'answer_days', '2023-06-12', 30, 'House rule; Nigeria Data Protection Act 2023, Part VI', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f02', 'extension_days', '2023-06-12', 30, 'House rule, once and with a reason', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f03', 'person_months', '2023-06-12', 60, 'Money Laundering (Prevention and Prohibition) Act 2022: five years after the relationship', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f04', 'lead_months', '2023-06-12', 6, 'House rule; Nigeria Data Protection Act 2023, section 24 (storage limitation)', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f05', 'session_days', '2023-06-12', 90, 'House rule', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f06', 'delivery_log_days', '2023-06-12', 90, 'House rule', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f07', 'breach_hours', '2023-06-12', 72, 'Nigeria Data Protection Act 2023, section 40', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f08', 'data_protection_month_day', '2023-06-12', 331, 'General Application and Implementation Directive 2025', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f09', 'brokerage_days', '2023-06-12', 30, 'House rule: days after the end of the quarter', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f0a', 'client_account_days', '2023-06-12', 30, 'House rule: days after the end of the quarter', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f0b', 'bordereaux_days', '2023-06-12', 10, 'House rule: days after the end of the month', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f0c', 'premium_notice_hours', '2023-06-12', 48, 'House rule: hours from the sale to the insurer''s notice', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f0d', 'premium_placed_days', '2023-06-12', 14, 'House rule: days from the sale to the policy', NULL, '2023-06-12 00:00:00.000000'),
('01900000000070008000000000000f0e', 'complaint_days', '2023-06-12', 14, 'House rule', NULL, '2023-06-12 00:00:00.000000');
