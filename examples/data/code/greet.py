import sys


def greet(name):
    print(f"Good morning, {name}!", file=sys.stdout)


for argument in sys.argv[1:]:
    greet(argument)
