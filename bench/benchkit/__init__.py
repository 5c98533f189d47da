"""What the programs in bench/ have in common: campaign.py, peers.py, decode.py, early_start.py. Standard library only."""
