"""What a type checker makes of an application. types_test.py runs it; a line that must be refused ends with the kind of its error."""
from typing import List

from easyretry import App, Attempt, Submitted

app = App()


@app.handler("mail.send")
def send(order: str) -> int:
    return len(order)


@app.retryable("payment.pay", persist="always", never_retry=(ValueError,))
def pay(order: str, cents: int = 5) -> List[int]:
    return [len(order), cents]


@app.retryable("payment.refund")
async def refund(order: str) -> bool:
    return bool(order)


sent: int = send("ann")
paid: Attempt[List[int]] = pay("order 42", cents=7)
first: int = paid.value[0]
stored: Submitted = pay.submit("order 42")
by_key: Attempt[List[int]] = pay.options(key="42")("order 42")


async def refunded() -> bool:
    attempt: Attempt[bool] = await refund("order 42")
    later: Submitted = await refund.submit("order 42")
    return attempt.value or later.created


pay(42)  # error: arg-type
pay("order 42", currency="EUR")  # error: call-arg
pay.submit()  # error: call-arg
wrong: str = pay("order 42").value  # error: assignment
send(42)  # error: arg-type


async def refused() -> None:
    await refund(42)  # error: arg-type
    not_awaited: bool = refund("order 42").value  # error: attr-defined


@app.retryable("payment.other", persist="sometimes")  # error: arg-type
def other() -> None:
    pass
