"""What bench/campaign.py, bench/peers.py and bench/decode.py have in common. Standard library only."""
