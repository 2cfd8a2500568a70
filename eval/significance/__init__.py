"""Differences between systems: could they be chance?"""
