"""The experiment of the original article and two sweeps around it; bench/campaign.py is the command."""
