"""Purpose of each screen, shown to those who may not open it and in the command palette."""

from collections.abc import Mapping
from typing import Final

# By the page's file; a screen without a line is told by its title.
PURPOSES: Final[Mapping[str, str]] = {
    "sales/dashboard.py": "The figures of sales: premium, policies, commissions, renewals, and what is stuck.",
    "sales/purchases.py": "Every sale with its customer, its policy and the split of the money.",
    "sales/purchase.py": "One sale with its customer, its policy and the split of the money.",
    "claims/queue.py": "The claims to be worked on, by the days left of the 60.",
    "claims/claim.py": "One claim: its documents, its cover, its history and the decisions on it.",
    "claims/tasks.py": "What is to be done on claims, by the day it is due.",
    "claims/lodge.py": "A claim taken down for a customer, on any policy in force.",
    "claims/performance.py": "How long claims take and how they are decided.",
    "sales/renewals.py": "Every further term of a policy with the split of the money.",
    "sales/due.py": "The policies whose cover ends soon or has just ended.",
    "sales/customers.py": "The people and businesses who bought a policy.",
    "sales/customer.py": "One customer with all purchases, renewals, policies and claims.",
    "policies/search.py": "Policies by number, plate, name, e-mail or phone.",
    "policies/awaiting.py": "The policies that their insurer has not accepted yet.",
    "policies/policy.py": "One policy: its cover, certificate, money, claims and history.",
    "buy/credit_life.py": "The price of credit life step by step, and its sale.",
    "buy/buy.py": "The sale of every other cover.",
    "finance/payments.py": "What is due with each party, and the payments that settle it.",
    "finance/payment.py": "One payment and the statements that it settles.",
    "finance/payout.py": "One payout with its payments and its bank file.",
    "finance/exports.py": "The files that were exported, with their receipts.",
    "finance/export.py": "The receipt of one exported file.",
    "admin/staff.py": "The people who sign in here, and their roles.",
    "admin/person.py": "One colleague: roles, limit and sessions.",
    "admin/keys.py": "The keys with which distributors reach the API.",
    "admin/key.py": "One key of a distributor.",
    "admin/products.py": "What is sold, at which prices and commissions.",
    "admin/product.py": "One product with its prices and commissions over time.",
    "admin/rates.py": "A change of the rates of a product.",
    "admin/partners.py": "The businesses that sell and that insure.",
    "admin/distributor.py": "One business that sells.",
    "admin/insurer.py": "One insurer and its connection.",
    "admin/audit_log.py": "Who changed what, and when.",
    "admin/audit_entry.py": "One entry of the audit log.",
    "admin/system.py": "The state of the store, the queue and the server.",
}
