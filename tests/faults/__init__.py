"""The program is killed, interrupted, starved of room and of rights; no run may be lost by it."""
