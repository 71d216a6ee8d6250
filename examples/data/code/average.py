def average(numbers):
    """The arithmetic mean of some numbers; 0 where there are none."""
    total = 0.0
    count = 0
    for number in numbers:
        total += number
        count += 1
    return total / count if count else 0.0
