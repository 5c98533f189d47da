"""What bench/campaign.py and bench/peers.py have in common. Standard library only."""
